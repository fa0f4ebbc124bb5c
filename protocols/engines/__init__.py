"""Parts that several research systems share, each with a test of its own.

Read ``research_system`` first (what all systems have in common), then ``team_work`` (rounds,
questions, searches), ``forms`` and ``steps`` (what two systems or more do alike), ``elo`` and
``tournament_forms`` (hypotheses compared in pairs).
"""
