"""Studies of many runs, which are planned, locked, run anywhere and gathered.

Read ``study_file`` (the keys), ``design`` (arms, scenarios, seeds), ``plan`` (what they spend),
``lock`` (the folder: what was planned, how each run stands), ``run_one`` (a run), ``tables`` (what
is gathered), ``study`` (a folder opened, its planned tests), ``page`` with ``figures``, and
``run_study``, which puts them together; ``command`` has the commands, ``dask_engine`` the clusters.
"""
