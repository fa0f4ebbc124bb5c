"""The literature of a society with papers, citations and search, all as of a date.

Read ``papers``, ``embedding`` (texts to vectors), ``vector_index``, then ``literature``.
"""
