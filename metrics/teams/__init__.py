"""Measures of the composition, outcome, concurrency, waiting and peer review of teams.

Read ``teams`` first, then ``concurrency`` (teams side by side), ``timelines``
(where the days of a team go) and ``peer_review``.
"""
