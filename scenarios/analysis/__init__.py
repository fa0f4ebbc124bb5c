"""Finished runs against reality and their own hashes.

Read ``observed``, ``backtest`` and ``facts``; a run's own tables and digest stay as they are.
"""
