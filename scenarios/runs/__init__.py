"""Runs of a scenario in folders, which can be resumed, replayed and forked.

Read ``build`` (scenario to society), ``execute`` (the run itself), ``run_folder`` (what is
written), ``run_journal`` (may a folder be resumed), ``run_state`` (how a run stands), then
``fork``, ``rehearsal`` (no model is asked), ``progress``, ``signals`` and ``lease``.
"""
