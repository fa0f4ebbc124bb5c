"""Measures, statistics and pages computed from the tables of a run; nothing here changes a run.

Read ``measures`` (the table of all), then ``registry``, which computes them.
"""
