"""Measures of citations, productivity, inequality and disruption.

Read ``authorships`` first: the table of who wrote what when, on which other measures build. Then
``impact`` (citations, h-index, productivity, Gini) and ``disruption``.
"""
