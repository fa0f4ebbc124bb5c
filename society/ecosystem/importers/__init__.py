"""Importers, which read other people's data as streams of raw records without silent losses.

Read ``records`` first, then ``source`` (with the table of importers), ``files`` and ``fields``.
"""
