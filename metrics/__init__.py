"""Measures, statistics and pages computed from the tables of a run; nothing here changes a run.

Read ``registry``, which lists and computes all measures and metrics.
"""
