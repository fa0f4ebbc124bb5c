"""Runs of a scenario in folders, which can be resumed, replayed and forked.

Read ``build``, ``execute``, ``run_folder``, ``run_journal``, ``run_state``, then ``fork``.
"""
