"""Execution of the runs of a study in threads, in processes or on a cluster.

Read ``run_one`` (one run under its lease), ``lease`` and ``crash_log`` (one owner, and runs that
kill their process), ``budget_shares``; then the engines: ``engine`` chooses ``local`` (with
``thread_pool`` and ``process_pool``) or ``dask_engine``. Results never depend on the engine.
"""
