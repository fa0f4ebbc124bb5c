"""Nearest papers and mean distances in one database: exact, in float64, block by block.

An approximate index would make the measure depend on the index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from virsci_society.agents.arrays import FloatArray, IntArray

QUERIES = 64
PAPERS = 8192
"""Sizes of a block; memory is at most queries x papers of the database in float64."""

MARGIN = 1e-9
"""Candidates this close (squared, relative) to the k-th are measured again one by one."""

ROUNDING = 1e-13
"""Squared distances below this share of the squared lengths are rounding of the expansion."""


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of each query, and by year (m x years) the sum of distances to its papers."""

    hits: IntArray
    distances: FloatArray
    year_sums: FloatArray


class VectorSpace:
    """The vectors of a database with the distance between them."""

    def __init__(self, vectors: NDArray[Any], unit: bool, squared: bool) -> None:
        self._vectors = np.asarray(vectors)
        self.unit = unit
        self.squared = squared

    def rows(self, rows: IntArray | slice) -> FloatArray:
        """Some vectors of the database, in float64, scaled to length 1 if ``unit``."""
        return self.prepared(self._vectors[rows])

    def prepared(self, vectors: NDArray[Any]) -> FloatArray:
        """Any vectors, m x d, in float64, scaled to length 1 if ``unit``."""
        exact = np.asarray(vectors, dtype=np.float64)
        if not self.unit:
            return exact
        length = np.sqrt(np.einsum("ij,ij->i", exact, exact))[:, None]
        # A text without a known word has a zero vector, which has no direction.
        return exact / np.where(length > 0, length, 1.0)

    def nearest(
        self, queries: NDArray[Any], k: int, ids: NDArray[Any], year_of: IntArray
    ) -> Neighbours:
        """Find the k nearest papers of each query; ties of distance go to the smaller id."""
        points = self.prepared(queries)
        years = int(year_of.max()) + 1 if len(year_of) else 0
        take = min(k, len(self._vectors))
        hits = np.zeros((len(points), take), dtype=np.int64)
        distances = np.zeros((len(points), take))
        sums = np.zeros((len(points), years))
        order = np.argsort(year_of, kind="stable")
        starts = np.searchsorted(year_of[order], np.arange(years))
        for start in range(0, len(points) if take else 0, QUERIES):
            block = slice(start, start + QUERIES)
            table = self._squares(points[block])
            for row, squares in enumerate(table, start=start):
                hits[row], distances[row] = self._closest(points[row], squares, take, ids)
            plain = table if self.squared else np.sqrt(table)
            # Sums by year in one pass, since papers are ordered by year.
            sums[block] = np.add.reduceat(plain[:, order], starts, axis=1)
        return Neighbours(hits, distances, sums)

    def distances(self, points: NDArray[Any], hits: IntArray) -> FloatArray:
        """Distances of each point, m x d, to its own papers by row number, m x k."""
        squares = np.zeros(hits.shape)
        for row, (point, near) in enumerate(zip(self.prepared(points), hits, strict=True)):
            squares[row] = np.square(self.rows(near) - point).sum(axis=1)
        return squares if self.squared else np.sqrt(squares)

    def mean_neighbour_distance(self, rows: IntArray, k: int, ids: NDArray[Any]) -> float:
        """Mean over some papers of the mean distance to their k nearest other papers."""
        take = min(k, len(self._vectors) - 1)
        if take < 1 or not len(rows):
            return float("nan")
        total = 0.0
        for start in range(0, len(rows), QUERIES):
            block = rows[start : start + QUERIES]
            points = self.rows(block)
            table = self._squares(points)
            # A paper is no neighbour of itself.
            table[np.arange(len(block)), block] = np.inf
            for point, squares in zip(points, table, strict=True):
                total += float(self._closest(point, squares, take, ids)[1].mean())
        return total / len(rows)

    def _squares(self, points: FloatArray) -> FloatArray:
        """Squared distances of the points to all papers, from the expanded square."""
        own = np.einsum("ij,ij->i", points, points)[:, None]
        table = np.empty((len(points), len(self._vectors)))
        for start in range(0, len(self._vectors), PAPERS):
            papers = self.rows(slice(start, start + PAPERS))
            scale = own + np.einsum("ij,ij->i", papers, papers)[None, :]
            squares = scale - 2.0 * (points @ papers.T)
            # What is within rounding of zero is zero, so that equal is equal.
            table[:, start : start + PAPERS] = np.where(squares > ROUNDING * scale, squares, 0.0)
        return table

    def _closest(
        self, point: FloatArray, squares: FloatArray, k: int, ids: NDArray[Any]
    ) -> tuple[IntArray, FloatArray]:
        """Choose among the candidates by distances taken as plain differences."""
        # The expanded square is inexact in the last digits: near the k-th all are recomputed.
        limit = np.partition(squares, k - 1)[k - 1]
        scale = float(point @ point) + limit + 1.0
        near = np.flatnonzero(squares <= limit + MARGIN * scale)
        gaps = self.rows(near) - point
        exact = np.einsum("ij,ij->i", gaps, gaps)
        # Ties go to the smaller id, as in the search of the society (rule 14).
        order = sorted(range(len(near)), key=lambda at: (exact[at], ids[near[at]]))[:k]
        chosen = exact[order]
        return near[order], chosen if self.squared else np.sqrt(chosen)


def mean_pairwise_distance(points: FloatArray, squared: bool) -> float:
    """Mean distance between two different points of a set."""
    from scipy.spatial.distance import pdist

    if len(points) < 2:
        return float("nan")
    return float(pdist(points, "sqeuclidean" if squared else "euclidean").mean())
