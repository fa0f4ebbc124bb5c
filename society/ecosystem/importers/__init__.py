"""Importers, which read other people's data as streams of raw records without silent losses.

Read ``records`` first (what an importer yields and how it is counted), then ``source`` (what every
importer does, and the table of importers), ``files``, ``fields`` and ``cleaning`` (lines and
values). To add a format, subclass ``Source`` or ``JsonSource`` and add it to the table.
"""
