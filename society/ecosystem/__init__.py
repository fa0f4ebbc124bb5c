"""Ecosystems, the data that societies start from, on disk and in memory.

Read ``ecosystem`` first (papers, population, co-author counts and vectors at the boundary), then
``storage`` (its files), ``knowledge_bank`` (profiles that are searched by interests) and
``summary`` (figures). Ecosystems are made of the records that ``importers`` read: ``build`` (the
steps in order), ``build_options``, ``raw_corpus`` (the records in columns) and ``profiles``;
``synthetic`` invents communities.
"""
