"""Nearest-neighbour search over vectors that are only appended, as of a number of rows.

Read ``vector_index`` first (the index that callers use); it finds candidates with ``flat``
(exhaustive search) or ``ivf`` (inverted file, for large pasts) and names its rows by ``ids``.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.literature.index.vector_index import VectorIndex as VectorIndex

__all__ = [
    "VectorIndex",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "VectorIndex": "society.literature.index.vector_index",
    },
)
