"""Importers, which read other people's data as streams of raw records without silent losses.

Read ``records`` first (what an importer yields and how it is counted), then ``source`` (what every
importer does), ``files`` and ``fields`` (lines and values), ``json_source`` (the base of JSON
formats) and ``spool`` (an import that resumes). To add a format, subclass ``Source`` or
``JsonSource``, as ``json_papers`` does in its shortest form, and add it to the table in
``registry``.
"""
