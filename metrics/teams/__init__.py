"""Measures of the composition, outcome, concurrency, waiting and peer review of teams.

Read ``teams`` first, then ``concurrency`` (teams side by side),
``contributions`` and ``peer_review``.
"""
