"""Studies of many runs, which are planned, locked, run anywhere and gathered.

Read ``study_file`` (the keys), ``design`` (arms, scenarios, seeds) and ``arm_sampling``, ``reader``
(file to design), ``lock`` (what was planned), ``folder`` and ``status`` (files on disk),
``forecast`` (cost beforehand) and ``gather`` (tables afterwards). ``execution`` does the runs,
``results`` makes the page of a study, ``command`` and ``terminal_tables`` are its commands.
"""
