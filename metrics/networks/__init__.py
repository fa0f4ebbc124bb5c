"""Networks of co-authors and of consultations.

Read ``structure`` first: the adjacency matrix, and the statistics of a network over time. Then
``communities`` (with core and periphery), ``small_world`` (with its null networks),
``degree_tails``, ``team_patterns`` (who wrote together before, newcomers and incumbents) and
``removals`` (also papers around the best connected).
"""
