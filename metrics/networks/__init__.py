"""Networks of co-authors and of consultations.

Read ``structure`` first: the adjacency matrix, and the statistics of a network over time. Then
``communities`` (with core and periphery), ``small_world`` (with its null networks),
``degree_tails``, ``assembly``, ``team_patterns`` and ``tie_lifetimes`` (who
writes together again, and for how long) and ``removals``.
"""
