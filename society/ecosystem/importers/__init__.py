"""Importers, which read other people's data as streams of raw records without silent losses.

Read ``records`` first (with the table of importers), then ``source``, ``files`` and ``fields``.
"""
