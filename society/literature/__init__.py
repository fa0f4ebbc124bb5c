"""The literature of a society with papers, citations and search, all as of a date.

Read in this order: ``papers`` (one paper, and many in columns, over ``arrow_sequence``),
``embedding`` (texts to vectors), ``index`` (nearest vectors, exact or by inverted file),
``marginal_relevance`` (a choice of unlike ones), ``literature`` (all of them together, with dates).
The folders ``embedding`` and ``index`` know no papers.
"""
