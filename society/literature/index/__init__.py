"""Nearest-neighbour search over vectors that are only appended, as of a number of rows.

Read ``vector_index`` first (the index that callers use); it finds candidates by exhaustive search
or with ``ivf`` (inverted file, for large pasts) and names its rows by ``ids``.
"""
