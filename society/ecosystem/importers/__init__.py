"""Importers, which read other people's data as streams of raw records without silent losses.

Read ``records`` first (what an importer yields and how it is counted), then ``source`` (what every
importer does, and the table of importers), ``files`` and ``fields`` (lines and values),
``json_papers`` (the base of JSON formats, and the short ones). To add a format, subclass ``Source``
or ``JsonSource`` and add it to the table.
"""
