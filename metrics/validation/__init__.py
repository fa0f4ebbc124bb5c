"""Simulated papers compared with those of a real community in the same time.

Read ``assembly_measures`` first: what is measured of the papers of a window, for a run and for a
real community alike. ``tolerances`` turns two of them into errors and one score. ``dated_papers``
is the form in which the papers of both come, with the distance between what they are about, and
``comparison`` makes the tables that ``society compare`` prints.
"""
