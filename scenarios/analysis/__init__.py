"""Finished runs against reality and their own hashes.

``observed`` compares runs with the real papers of their community, ``backtest`` looks for their
ideas among these, ``facts`` judges known facts of science (``facts_page`` has its page),
``verification`` checks files and journals. ``command`` has the command. A run's own tables and
digest stay as they are.
"""
