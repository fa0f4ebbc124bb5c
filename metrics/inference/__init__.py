"""Statistical intervals, tests, effect sizes and correlations over replicates.

Replicates are the unit; papers or teams of one run are not independent of each other.
"""
