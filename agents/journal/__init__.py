"""Durable storage of every call, so that a run can be resumed, replayed and forked.

Read ``records`` for outcomes and attempts, then ``journal`` for the operations on them.
``writer`` has the statements, the hashes of rows and the thread that commits the changes of many
callers together; ``database`` opens the SQLite file, checks it, and reads the
notes of a journal that another process writes.
"""
