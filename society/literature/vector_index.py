"""An append-only vector index that finds the nearest rows among those visible at a moment.

Single precision proposes, float64 chooses: no answer depends on how a machine sums (rule 14).
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray, VectorArray, zero_rows
from virsci_society.agents.errors import ProtocolError
from virsci_society.society.literature.columns import Ids

if TYPE_CHECKING:
    from virsci_society.society.literature.ivf import IVFIndex

EXACT_UP_TO = 20_000
"""Rows of the past up to which the search is exhaustive; more are put into an inverted file."""
# More than the rounding of a float32 product of unit rows, so that no nearer row is left out.
SLACK = 1e-4


class GrowingRows:
    """Float32 rows, to which one thread appends while others read those that were there."""

    def __init__(self, first: VectorArray) -> None:
        self._rows = np.ascontiguousarray(first, dtype=np.float32)
        self._count = len(first)

    def __len__(self) -> int:
        return self._count

    def append(self, rows: VectorArray) -> None:
        """Append rows (n x dim)."""
        end = self._count + len(rows)
        if end > len(self._rows):
            grown = np.zeros((2 * end, self._rows.shape[1]), dtype=np.float32)
            grown[: self._count] = self._rows[: self._count]
            self._rows = grown
        self._rows[self._count : end] = rows
        self._count = end

    def __getitem__(self, wanted: Any) -> VectorArray:
        rows: VectorArray = self._rows[wanted]
        return rows


def candidates(scores: VectorArray, k: int, hidden: Collection[int]) -> IntArray:
    """The rows that may be among the ``k`` best, of all but the hidden, once scores are exact."""
    if hidden:
        scores[[row for row in hidden if row < len(scores)]] = -np.inf
    least = np.partition(scores, len(scores) - k)[len(scores) - k] if k < len(scores) else -np.inf
    return np.flatnonzero((scores >= least - SLACK) & (scores > -np.inf))


class VectorIndex:
    """Float32 rows with ids, searched by Euclidean distance; more rows may be appended."""

    def __init__(self, dim: int, ids: Ids | None = None, past: VectorArray | None = None) -> None:
        self.dim = dim
        self._ids = Ids() if ids is None else ids
        self._past = np.zeros((0, dim), np.float32) if past is None else past
        if self._past.shape != (len(self._ids), dim):
            shape = (len(self._ids), dim)
            raise ProtocolError(f"the past needs vectors of shape {shape}, not {self._past.shape}")
        # Near to everything by this distance, though they share no meaning with anything.
        self._blank = zero_rows(self._past, "vectors of past papers", "embed them again").tolist()
        self._adding = threading.Lock()
        self._cells: IVFIndex | None = None
        first = self._past
        if len(self._past) > EXACT_UP_TO:
            from virsci_society.society.literature.ivf import load_or_build_index

            self._cells, first = load_or_build_index(self._past), self._past[:0]
        else:
            self._past = self._past[:0]
        self._rows, self._halves = GrowingRows(first), GrowingRows(_half_squares(first))

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def facts(self) -> dict[str, Any]:
        """How the past is searched, and the measured recall (1.0 where the search is exact)."""
        return self._cells.facts if self._cells else {"search": "exact", "recall": 1.0}

    def add(self, ids: Sequence[str], rows: VectorArray) -> None:
        """Append rows (n x dim) under ids that are not known yet."""
        if rows.shape != (len(ids), self.dim):
            raise ProtocolError(
                f"{len(ids)} ids need vectors of shape {(len(ids), self.dim)}, not {rows.shape}"
            )
        with self._adding:
            present = [key for key in ids if key in self._ids]
            if present or len(set(ids)) != len(ids):
                raise ProtocolError(f"an id is indexed once; twice: {(present or list(ids))[0]!r}")
            self._rows.append(rows)
            self._halves.append(_half_squares(rows))
            # Last: their number is the number of rows visible to other threads.
            for key in ids:
                self._ids.append(key)

    def rows(self, numbers: IntArray) -> VectorArray:
        """Read rows by number, in the given order, past and added rows."""
        past = numbers < len(self._past)
        rows = np.empty((len(numbers), self.dim), dtype=np.float32)
        rows[past] = self._past[numbers[past]]
        rows[~past] = self._rows[numbers[~past] - len(self._past)]
        return rows

    def vector(self, key: str) -> VectorArray:
        """Look up the row of an id."""
        row = self._ids.row_of(key)
        if row is None:
            raise ProtocolError(f"no vector is indexed under {key!r}")
        vector: VectorArray = self.rows(np.array([row]))[0]
        return vector

    def search(
        self, query: VectorArray, k: int, visible: int, exclude: frozenset[str] = frozenset()
    ) -> list[tuple[int, float]]:
        """Find the ``k`` nearest of the first ``visible`` rows; zero rows are ignored."""
        if k < 0 or not 0 <= visible <= len(self._ids):
            raise ProtocolError(f"k={k}, visible={visible} with {len(self._ids)} rows indexed")
        if k == 0:
            return []
        point = np.asarray(query, dtype=np.float32).reshape(self.dim)
        excluded = (self._ids.row_of(key) for key in exclude)
        hidden = {row for row in (*excluded, *self._blank) if row is not None and row < visible}
        first = len(self._past)
        early, late = min(visible, first), max(visible - first, 0)
        gone = [row for row in hidden if row < early]
        if self._cells is not None and early > EXACT_UP_TO:
            rows = self._cells.propose(point, k, early, gone)
        else:
            shown = np.ones(early, dtype=bool)
            shown[gone] = False
            rows = np.flatnonzero(shown)
        if late:
            # The greater, the smaller the distance. One thread of its own: BLAS would start more.
            scores = np.einsum("ij,j->i", self._rows[:late], point) - self._halves[:late, 0]
            gone = [row - first for row in hidden if row >= first]
            rows = np.concatenate([rows, candidates(scores, k, gone) + first])
        distances = exact_distances(self.rows(rows), point)
        if len(rows) > k:
            nearest = distances <= np.partition(distances, k - 1)[k - 1]
            rows, distances = rows[nearest], distances[nearest]
        ids = (self._ids[row] for row in rows.tolist())
        ranked = sorted(zip(distances.tolist(), ids, rows.tolist(), strict=True))[:k]
        return [(row, distance) for distance, _, row in ranked]


def exact_distances(rows: VectorArray, point: VectorArray) -> FloatArray:
    """Euclidean distances of float32 rows from a point of float32 numbers, in float64."""
    gaps = rows.astype(np.float64) - point
    distances: FloatArray = np.sqrt(np.square(gaps).sum(axis=1))
    return distances


def _half_squares(rows: VectorArray) -> VectorArray:
    """Half the squared length of each row, as a column."""
    halves: VectorArray = np.einsum("ij,ij->i", rows, rows)[:, None] / 2
    return halves
