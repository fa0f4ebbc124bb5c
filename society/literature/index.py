"""VectorIndex: nearest rows among those that were there at a date.

Rows are only ever appended, so a count of visible rows names a moment. faiss proposes, and
the answer is chosen from distances recomputed in float64: which rows come back never depends
on how a library orders near-equal numbers, nor on what is appended meanwhile. It knows ids
and vectors, not papers.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import faiss
import numpy as np
import numpy.typing as npt

from agents.errors import ProtocolError

Vectors = npt.NDArray[np.float32]

EXACT_BELOW = 256
CANDIDATES = 4
BLOCK = 4096
# More than the rounding of a float32 sum of squares of unit rows, so that a row which faiss
# places just outside the proposals cannot be nearer than one inside.
SLACK = 1e-4


class VectorIndex:
    """An append-only set of float32 rows with ids, searched by Euclidean distance."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._index = faiss.IndexFlatL2(dim)
        self._ids: list[str] = []
        self._row_of: dict[str, int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, ids: Sequence[str], rows: Vectors) -> None:
        """Append rows under ids that are not known yet."""
        block = np.ascontiguousarray(rows, dtype=np.float32)
        if block.shape != (len(ids), self.dim):
            raise ProtocolError(
                f"{len(ids)} ids need vectors of shape {(len(ids), self.dim)}, not {block.shape}"
            )
        with self._lock:
            known = [key for key in ids if key in self._row_of]
            if known or len(set(ids)) != len(ids):
                raise ProtocolError(f"an id is indexed once; twice: {(known or list(ids))[0]!r}")
            self._index.add(block)
            for key in ids:
                self._row_of[key] = len(self._ids)
                self._ids.append(key)

    def vector(self, key: str) -> Vectors:
        """The row of an id."""
        row = self._row_of.get(key)
        if row is None:
            raise ProtocolError(f"no vector is indexed under {key!r}")
        with self._lock:
            found: Vectors = self._index.reconstruct(row)
        return found

    def search(
        self, query: Vectors, k: int, visible: int, exclude: frozenset[str] = frozenset()
    ) -> list[tuple[int, float]]:
        """The ``k`` nearest of the first ``visible`` rows as (row, distance), nearest first.

        Equal distances are ordered by id. Rows whose id is in ``exclude`` are passed over.
        """
        if k < 0 or not 0 <= visible <= len(self._ids):
            raise ProtocolError(f"k={k}, visible={visible} with {len(self._ids)} rows indexed")
        point = np.asarray(query, dtype=np.float32).reshape(self.dim)
        hidden = {row for key in exclude if (row := self._row_of.get(key, visible)) < visible}
        if k == 0:
            return []
        with self._lock:
            return self._nearest(point, k, visible, hidden)

    def _nearest(
        self, point: Vectors, k: int, visible: int, hidden: set[int]
    ) -> list[tuple[int, float]]:
        want = CANDIDATES * k + len(hidden)
        while visible > EXACT_BELOW and want < visible:
            rows, farthest = self._propose(point, want, visible)
            hits = self._choose(point, rows, k, hidden)
            if len(hits) == k and hits[-1][1] ** 2 + SLACK * (1.0 + farthest) < farthest:
                return hits
            want *= CANDIDATES
        return self._choose(point, np.arange(visible), k, hidden)

    def _propose(
        self, point: Vectors, want: int, visible: int
    ) -> tuple[npt.NDArray[np.int64], float]:
        # The number of threads belongs to the calling thread in OpenMP, hence on every search.
        faiss.omp_set_num_threads(1)
        selector = faiss.IDSelectorRange(0, visible)
        before = faiss.SearchParameters()
        before.sel = selector
        squares, rows = self._index.search(point[None, :], want, params=before)
        return rows[0], float(squares[0, -1])

    def _choose(
        self, point: Vectors, rows: npt.NDArray[np.int64], k: int, hidden: set[int]
    ) -> list[tuple[int, float]]:
        kept = [int(row) for row in rows if int(row) not in hidden]
        distances: list[float] = []
        for start in range(0, len(kept), BLOCK):
            block = np.asarray(kept[start : start + BLOCK], dtype=np.int64)
            gaps = self._index.reconstruct_batch(block).astype(np.float64) - point
            distances += np.sqrt(np.square(gaps).sum(axis=1)).tolist()
        ranked = sorted(zip(distances, (self._ids[row] for row in kept), kept, strict=True))
        return [(row, distance) for distance, _, row in ranked[:k]]
