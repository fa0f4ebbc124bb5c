"""The shared world of the scientists and its simulated time; it knows nothing of what a team says.

``model`` makes a society of its parts, which stand in the rooms below.
"""
