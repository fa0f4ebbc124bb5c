"""Measures of the composition, outcome, concurrency, waiting and peer review of teams."""
