"""Synthetic ecosystems with invented people, papers and topics, made from a seed.

Read ``synthetic`` first, then ``community`` (careers, teams and citations without words) and
``text`` (the words). ``strangers`` makes people without a past. ``large``, ``census`` and
``topic_vectors`` make ecosystems of very many papers in columns.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.ecosystem.synthetic.strangers import Strangers as Strangers
    from society.ecosystem.synthetic.synthetic import Synthetic as Synthetic

__all__ = [
    "Strangers",
    "Synthetic",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Strangers": "society.ecosystem.synthetic.strangers",
        "Synthetic": "society.ecosystem.synthetic.synthetic",
    },
)
