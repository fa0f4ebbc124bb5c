"""Studies of many runs, which are planned, locked, run anywhere and gathered.

Read ``study_file`` (the keys), ``design`` (arms, scenarios, seeds), ``lock`` (the folder: what was
planned, how each run stands), ``run_one`` and ``engine`` (the runs), ``tables`` (what is gathered),
``study`` (a folder opened, its planned tests), ``page`` with ``answer``, ``report_tables`` and
``figures``, and ``run_study``, which puts them together; ``command`` has the commands.
"""
