"""The literature of a society with papers, citations and search, all as of a date.

Read in this order: ``papers`` (one paper, and many in ``columns``), ``embedding`` (texts to
vectors), ``vector_index`` (the nearest of vectors that are only appended; exhaustive, or for large
pasts by the inverted file of ``ivf``), ``literature`` (all of them together, with dates, and the
choice of unlike ones). ``embedding``, ``vector_index`` and ``ivf`` know no papers.
"""
