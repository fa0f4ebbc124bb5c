"""What a run will take and whether it can be run, found out before anything is paid.

Read ``plan`` (calls, tokens, cost, time), ``prompts`` (what is asked) and ``doctor``.
"""
