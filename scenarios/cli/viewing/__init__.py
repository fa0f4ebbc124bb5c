"""The commands list, new, runs, open, show, transcript and verify, which look at what there is.

Read ``library_list`` and ``new_scenario`` (scenarios), then ``run_list`` (folders of runs),
``overview`` (one run in ten lines) with ``run_charts`` (over time, on a terminal), ``transcript``
(what was said in it) and ``verify`` (whether its files are as they were written). They write
nothing into a run folder.
"""
