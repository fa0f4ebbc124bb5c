"""Surveys of the scientists of a society, who are interviewed at a date.

Read ``survey`` (the keys of a form), ``knowledge`` (what a scientist knows at the date), ``forms``
(what it fills in), then ``interviewer`` (the questions are asked) and ``answers`` (their table).
``offline_rules`` stand in for a model.
"""
