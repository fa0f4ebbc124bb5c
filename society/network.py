"""CoauthorNetwork: who has written with whom, and when.

A sparse matrix of joint papers before day 0, and dated ties on top. It grows only by
``record``; everything is counted as of a date, strictly before it (rule 16).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import networkx


class CoauthorNetwork:
    """Joint papers of the population, rows numbered 0 to ``size`` - 1.

    Args:
        base: symmetric sparse counts before day 0, zero diagonal (scipy CSR).
        now: reads the simulated date.
    """

    def __init__(self, base: Any, now: Callable[[], float]) -> None:
        self.size: int = base.shape[0]
        self._base = base.tocsr()
        self._base.sort_indices()
        self._now = now
        self._dates: dict[int, dict[int, list[float]]] = {}

    def record(self, authors: Sequence[int]) -> None:
        """A paper of these authors becomes visible now."""
        date = self._now()
        for i, j in combinations(authors, 2):
            for one, other in ((i, j), (j, i)):
                self._dates.setdefault(one, {}).setdefault(other, []).append(date)

    def row(self, i: int, before: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Co-authors of ``i`` and their numbers of joint papers before a date (now), by row."""
        start, end = self._base.indptr[i], self._base.indptr[i + 1]
        partners, counts = self._base.indices[start:end], self._base.data[start:end]
        grown = self._dates.get(i)
        if not grown:
            return partners, counts
        joint = dict(zip(partners.tolist(), counts.tolist(), strict=True))
        date = self._now() if before is None else before
        for other, dates in list(grown.items()):
            fresh = bisect_left(dates, date)
            if fresh:
                joint[other] = joint.get(other, 0) + fresh
        keys = np.array(sorted(joint), dtype=np.int64)
        return keys, np.array([joint[key] for key in keys.tolist()], dtype=np.int64)

    def joint(self, i: int, j: int) -> int:
        """Joint papers of ``i`` and ``j`` before now."""
        start, end = self._base.indptr[i], self._base.indptr[i + 1]
        place = start + int(np.searchsorted(self._base.indices[start:end], j))
        known = place < end and self._base.indices[place] == j
        count = int(self._base.data[place]) if known else 0
        dates = self._dates.get(i, {}).get(j)
        return count + (bisect_left(dates, self._now()) if dates else 0)

    def graph(self) -> networkx.Graph[int]:
        """A view as of now: everybody a node, joint papers the ``weight`` of an edge."""
        from networkx import Graph

        view: networkx.Graph[int] = Graph()
        view.add_nodes_from(range(self.size))
        for i in range(self.size):
            partners, counts = self.row(i)
            ties = zip(partners.tolist(), counts.tolist(), strict=True)
            view.add_weighted_edges_from((i, j, count) for j, count in ties if i < j)
        return view

    def base_ties(self) -> list[tuple[int, int, int]]:
        """Every pair with joint papers before day 0, once, with their number."""
        upper = self._base.tocoo()
        rows = zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True)
        return sorted((i, j, count) for i, j, count in rows if i < j)
