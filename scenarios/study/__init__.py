"""Studies of many runs, which are planned, locked, run anywhere and gathered.

Read ``study_file``, ``design``, ``plan``, ``lock``, ``run_one``, ``study``, then ``run_study``.
"""
