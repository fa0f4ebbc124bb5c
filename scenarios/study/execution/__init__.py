"""Execution of the runs of a study in threads, in processes or on a cluster.

Read ``run_one`` (one run under its lease), then ``engine``, which does runs in the ``pools`` of
this machine or by ``dask_engine``. Results never depend on it.
"""
