"""Scalar measures, one number per run, the unit of every study.

Read ``measures`` (the table of names), then ``outcomes`` (the functions behind it, and
``table.column.statistic`` for everything that has no name in the table).
"""
