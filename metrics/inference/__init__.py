"""Statistical intervals, tests, effect sizes and correlations over replicates.

Replicates are the unit; papers or teams of one run are not independent of each other. Read
``intervals`` first (what goes in, what comes out, how often an interval holds), then
``comparisons`` (with effect sizes), ``correlations`` (also within seeds and settings) and
``two_lines`` (regressions).
"""
