"""Ecosystems, the data that societies start from, on disk and in memory.

Read ``ecosystem`` first (papers, population, co-author counts and vectors at the boundary), then
``people`` and ``storage`` (its columns and files), ``knowledge_bank`` (profiles that are searched
by interests), ``interest_vocabulary`` (the interests that a prompt shows) and ``summary`` (figures
of an ecosystem). The folders make ecosystems: ``importers`` reads sources, ``building`` filters
them, ``synthetic`` invents communities.
"""
