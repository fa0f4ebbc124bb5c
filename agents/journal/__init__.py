"""Durable storage of every call, so that a run can be resumed, replayed and forked.

Read ``records`` for outcomes and attempts, then ``journal`` for the operations on them.
``writer`` commits the changes of many callers together, and ``database`` holds the SQLite schema
and its statements.
"""
