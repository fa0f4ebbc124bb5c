"""What research systems stand on.

Read ``card`` first (what a card can say), then ``meetings`` (rounds of questions), ``rounds`` and
``search`` (the engines); ``research_system`` and ``team_work`` hold what all systems share.
"""
