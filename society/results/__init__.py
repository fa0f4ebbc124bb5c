"""The results of a run, with its tables, log and digest, and the run as it is read back.

Read ``tables`` first (the columns of every table), then ``run`` (a run folder as an object).
"""
