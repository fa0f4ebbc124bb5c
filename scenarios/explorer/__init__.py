"""The explorer of a run or of two, one HTML file with the network, the teams and all that was said.

Read ``page``, then ``run_arrays`` (people, ties, teams) and ``conversations`` (words).
"""
