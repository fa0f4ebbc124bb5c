"""Studies of many runs, which are planned, locked, run anywhere and gathered.

Read ``study_file`` (the keys), ``design`` (arms, scenarios, seeds), ``reader`` (file to design),
``folder`` (what was planned), ``run_result`` (how a run stands), ``forecast`` (cost beforehand) and
``gather`` (tables afterwards). ``execution`` does the runs, ``results`` makes the page of a study,
``command`` has its commands.
"""
