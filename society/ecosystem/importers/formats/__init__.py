"""The formats that can be imported, one file each; ``registry`` is the table of them.

To add one, subclass ``Source`` or ``JsonSource`` and add it to the table. ``jsonl`` is the shortest
example.
"""
