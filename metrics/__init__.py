"""Measures, statistics and pages computed from the tables of a run; nothing here changes a run.

``registry`` names every measure (a table per run) and ``scalars.measures`` every scalar (a number
per run). The measures are in ``novelty``, ``teams``, ``networks``, ``impact``, ``cost`` and
``population``. ``inference`` has the statistics over replicates, ``report`` and ``study`` the
pages, ``ratings`` and ``reviews`` the judgement by people and by models, ``validation`` the
comparison with a real community.
"""
