"""Finished runs against other papers, reality and their own hashes.

``rescoring`` measures the novelty of abstracts against other papers, ``observed`` compares runs
with the real papers of their community, ``backtest`` looks for their ideas among these, ``facts``
judges known facts of science (``facts_page`` has its page), ``verification`` checks files and
journals. ``command`` has the commands. A run's own tables and digest stay as they are.
"""
