"""Measures, statistics and pages computed from the tables of a run; nothing here changes a run.

``measures`` is the one table of measures (numbers of a run) and metrics (tables computed from a
run); ``registry`` computes both. The metrics are in ``novelty``, ``teams``, ``networks``,
``impact``, ``cost`` and ``population``. ``inference`` has the statistics over replicates,
``validation`` the comparison with a real community, ``report`` the page of a run.
"""
