"""Execution of the runs of a study in threads, in processes or on a cluster.

Read ``run_one`` (one run under its lease, and a batch of them on threads), then ``engine``, which
does runs in child processes or by ``dask_engine``. Results never depend on it.
"""
