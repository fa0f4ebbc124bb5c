"""Parts that several research systems share, each with a test of its own.

Read ``research_system`` first (what all systems have in common), then ``team_work`` (rounds,
questions, searches) and ``forms``. Each further module is one step that two systems share:
``retrieval_rounds``, ``reflection``, ``tournament``, ``deduplication``, ``citations``,
``seniority``.
"""
