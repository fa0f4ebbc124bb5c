"""The results of a run, with its tables, log and digest, and the run as it is read back.

Read ``tables`` first (the columns of every table), then ``run`` (a run folder as an object).
While a society lives, ``run_log`` collects events and rows, those of day 0 too.
``dataframes`` turns rows into typed frames, ``table_files`` writes and reads them; ``digest``
hashes a run, or what had happened in it before a date.
"""
