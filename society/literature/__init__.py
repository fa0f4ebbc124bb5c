"""The literature of a society with papers, citations and search, all as of a date.

Read in this order: ``papers`` (one paper, and many in columns, over ``arrow_sequence``),
``embedding`` (texts to vectors), ``index`` (nearest vectors, exact or by inverted file),
``marginal_relevance`` (a choice of unlike ones), ``literature`` (all of them together, with dates).
The folders ``embedding`` and ``index`` know no papers.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.literature.literature import Literature as Literature
    from society.literature.papers import Paper as Paper
    from society.literature.papers import Papers as Papers

__all__ = [
    "Literature",
    "Paper",
    "Papers",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Literature": "society.literature.literature",
        "Paper": "society.literature.papers",
        "Papers": "society.literature.papers",
    },
)
