"""Importers, which read other people's data as streams of raw records without silent losses.

Read ``source`` first (what every importer does), then ``report`` (the counts of an import),
``files``, ``fields`` and ``authors`` (lines, values and identities), ``json_source`` (the base of
JSON formats), ``id_set`` (duplicates) and ``spool`` (an import that resumes). The folder
``formats`` has one file per format, and their table.
"""
