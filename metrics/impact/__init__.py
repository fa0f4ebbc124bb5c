"""Measures of citations, productivity, inequality and disruption.

Read ``authorships`` first: the table of who wrote what when, on which other measures build. Then
``impact`` (citations), ``productivity``, ``disruption``; ``inequality`` has Gini and h-index.
"""
