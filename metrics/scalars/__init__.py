"""Scalar measures, one number per run, the unit of every study.

Read ``measures`` (the table of names), then ``outcomes`` (functions behind it) and ``columns``
(``table.column.statistic``, for everything that has no name in the table).
"""
