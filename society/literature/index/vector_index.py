"""VectorIndex: nearest rows among those that were there at a date.

Rows are only ever appended, so a count of visible rows names a moment. faiss proposes, and
the answer is chosen from distances recomputed in float64: which rows come back never depends
on how a library orders near-equal numbers, nor on what is appended meanwhile. It knows ids
and vectors, not papers.

Up to ``EXACT_UP_TO`` rows of the past, and every row that is added later, are searched whole and
the answer is exact. A larger past stands in cells; its vectors stay where they are (in a
memory-mapped file, if that is where they came from) and only its codes are held.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.errors import ProtocolError
from society.literature.ids import Ids
from society.literature.index_flat import Flat, Rows, Vectors

if TYPE_CHECKING:
    from society.literature.index_cells import Cells

EXACT_UP_TO = 20_000
"""Rows of the past that are searched whole; more stand in cells."""
EXACT_BELOW = 256
CANDIDATES = 4
BLOCK = 4096
# More than the rounding of a float32 sum of squares of unit rows, so that a row which faiss
# places just outside the proposals cannot be nearer than one inside.
SLACK = 1e-4

Hit = tuple[float, str, int]


class VectorIndex:
    """Float32 rows with ids, searched by Euclidean distance; more may be appended.

    Args:
        dim: length of a row.
        ids: of the past's rows, and then of those appended; none where there is no past.
        past: rows that are there from the beginning and never change.
        kept: file that keeps how a large past is sorted; found anew on every start without.
    """

    def __init__(
        self,
        dim: int,
        ids: Ids | None = None,
        past: Vectors | None = None,
        kept: Path | None = None,
    ) -> None:
        self.dim = dim
        self._ids = Ids() if ids is None else ids
        self._past = np.zeros((0, dim), np.float32) if past is None else past
        if self._past.shape != (len(self._ids), dim):
            shape = (len(self._ids), dim)
            raise ProtocolError(f"the past needs vectors of shape {shape}, not {self._past.shape}")
        self._flat = Flat(dim)
        self._lock = threading.Lock()
        self._cells: Cells | None = None
        if len(self._past) > EXACT_UP_TO:
            from society.literature.index_kept import cells_of

            self._cells = cells_of(self._past, kept)
        else:
            self._flat.add(np.ascontiguousarray(self._past, dtype=np.float32))
            self._past = self._past[:0]

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def facts(self) -> dict[str, Any]:
        """How rows are searched, and the recall measured of it (1.0 where it is exact)."""
        if self._cells is None:
            return {"search": "exact", "recall": 1.0}
        return self._cells.facts

    def add(self, ids: Sequence[str], rows: Vectors) -> None:
        """Append rows under ids that are not known yet."""
        block = np.ascontiguousarray(rows, dtype=np.float32)
        if block.shape != (len(ids), self.dim):
            raise ProtocolError(
                f"{len(ids)} ids need vectors of shape {(len(ids), self.dim)}, not {block.shape}"
            )
        with self._lock:
            known = [key for key in ids if key in self._ids]
            if known or len(set(ids)) != len(ids):
                raise ProtocolError(f"an id is indexed once; twice: {(known or list(ids))[0]!r}")
            self._flat.add(block)
            for key in ids:
                self._ids.append(key)

    def vector(self, key: str) -> Vectors:
        """The row of an id."""
        row = self._ids.row_of(key)
        if row is None:
            raise ProtocolError(f"no vector is indexed under {key!r}")
        with self._lock:
            found: Vectors = self._rows(np.array([row]))[0]
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
        rows = (self._ids.row_of(key) for key in exclude)
        hidden = {row for row in rows if row is not None and row < visible}
        if k == 0:
            return []
        hits = self._of_cells(point, k, min(visible, len(self._past)), hidden)
        if visible > len(self._past):
            with self._lock:
                hits = sorted(hits + self._of_flat(point, k, visible - len(self._past), hidden))[:k]
        return [(row, distance) for distance, _, row in hits]

    def _of_cells(self, point: Vectors, k: int, visible: int, hidden: set[int]) -> list[Hit]:
        if not visible:
            return []
        if self._cells is None or visible <= EXACT_UP_TO:
            # As few as were searched whole when that was all there was.
            return self._choose(point, np.arange(visible), k, hidden)
        gone = [row for row in hidden if row < visible]
        rows = self._cells.propose(point, k, visible, gone)
        return self._choose(point, rows, k, hidden)

    def _of_flat(self, point: Vectors, k: int, visible: int, hidden: set[int]) -> list[Hit]:
        first = len(self._past)
        want = CANDIDATES * k + len(hidden)
        while visible > EXACT_BELOW and want < visible:
            rows, reach = self._propose(point, want, visible)
            hits = self._choose(point, rows + first, k, hidden)
            if reach == math.inf or _certain(hits, k, reach):
                return hits
            want *= CANDIDATES
        return self._choose(point, np.arange(first, first + visible), k, hidden)

    def _propose(self, point: Vectors, want: int, visible: int) -> tuple[Rows, float]:
        return self._flat.propose(point, want, visible)

    def _choose(self, point: Vectors, rows: Rows, k: int, hidden: set[int]) -> list[Hit]:
        kept = np.array([row for row in rows.tolist() if row not in hidden], dtype=np.int64)
        distances: list[float] = []
        for start in range(0, len(kept), BLOCK):
            gaps = self._rows(kept[start : start + BLOCK]).astype(np.float64) - point
            distances += np.sqrt(np.square(gaps).sum(axis=1)).tolist()
        ids = (self._ids[row] for row in kept.tolist())
        return sorted(zip(distances, ids, kept.tolist(), strict=True))[:k]

    def _rows(self, wanted: Rows) -> Vectors:
        # All of them of the past in cells, or none: each part is ranked by itself.
        if len(wanted) and wanted[0] < len(self._past):
            return np.asarray(self._past[wanted])
        return self._flat.rows(wanted - len(self._past))


def _certain(hits: list[Hit], k: int, reach: float) -> bool:
    """Are these the nearest, when no row left out has a squared distance below ``reach``?"""
    return len(hits) == k and hits[-1][0] ** 2 + SLACK * (1.0 + reach) < reach
