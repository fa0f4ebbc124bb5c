"""Measures of the composition, outcome, concurrency, waiting and peer review of teams.

Read ``teams`` first, then ``concurrency`` (teams side by side, and where the days of a team go),
``contributions`` and ``peer_review``.
"""
