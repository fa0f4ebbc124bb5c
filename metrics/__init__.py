"""Measures, statistics and pages computed from the tables of a run; nothing here changes a run.

``registry`` names every measure (a table per run) and ``scalars.measures`` every scalar (a number
per run). The measures are in ``novelty``, ``teams``, ``networks``, ``impact``, ``cost``,
``claims`` and ``population``. ``inference`` has the statistics over replicates, ``validation`` the
comparison with a real community, ``report`` the page of a run.
"""
