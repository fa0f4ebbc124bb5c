"""Networks of co-authors and of consultations.

Read ``structure`` first: the adjacency matrix, the statistics of a network over time, and small
worlds. Then ``communities`` (with core and periphery), ``degree_tails``, ``team_patterns`` (who
wrote together before, newcomers and incumbents) and ``removals`` (also papers around the best
connected).
"""
