"""Measures of the composition, outcome, concurrency, waiting and peer review of teams.

Read ``teams`` and ``composition`` first, then ``concurrency`` (teams side by side), ``timelines``
and ``waiting`` (where the days of a team go), ``peer_review`` and ``by_protocol``.
"""
