"""Ecosystems, the data that societies start from, on disk and in memory.

Read ``ecosystem`` first, then ``build``, ``importers`` and ``synthetic``.
"""
