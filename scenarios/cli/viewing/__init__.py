"""The commands list, new, runs, open, show and transcript, which show scenarios and runs.

Read ``library_list`` and ``new_scenario`` (scenarios), then ``run_list`` (folders of runs),
``overview`` (one run in ten lines) and ``transcript`` (what was said in it). They write
nothing into a run folder.
"""
