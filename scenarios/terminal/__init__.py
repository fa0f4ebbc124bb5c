"""The terminal side that all commands share, with arguments, messages and exit codes, and tables.

Read ``arguments``, then ``console``; ``plan_tables`` says what a run will take.
"""
