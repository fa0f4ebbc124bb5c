"""The commands that put questions about a run to a model or to people.

``ask`` puts a survey to the scientists of a run, ``rate`` abstracts to raters.
"""
