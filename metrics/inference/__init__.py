"""Statistical intervals, tests, effect sizes and correlations over replicates.

Replicates are the unit; papers or teams of one run are not independent of each other. Read
``sample`` first (what goes in, what comes out), then ``intervals``, ``comparisons``, ``effects``,
``correlations``, ``rank_trend`` (within seeds and settings), ``factorial`` (effects of a grid),
``two_lines``, ``logistic``; ``coverage`` says how often the intervals hold.
"""
