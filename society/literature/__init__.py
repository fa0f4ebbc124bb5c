"""The literature of a society with papers, citations and search, all as of a date.

Read in this order: ``papers`` (one paper, and many in columns), ``embedding`` (texts to vectors),
``index`` (nearest vectors, exact or by inverted file), ``literature`` (all of them together, with
dates, and the choice of unlike ones).
The folders ``embedding`` and ``index`` know no papers.
"""
