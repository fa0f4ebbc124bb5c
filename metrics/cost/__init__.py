"""Calls, tokens, money, and the critical path of the calls of a run.

Read ``call_counts`` (VirSci's inference cost, calls by act, stage and team), then ``ledger`` (what
the backend was asked and paid), then ``critical_path`` (the shortest time any scheduler can reach).
"""
