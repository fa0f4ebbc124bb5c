"""An append-only vector index that finds the nearest rows among those visible at a moment.

Rows are only appended, so a number of visible rows names a moment. faiss proposes candidates, and
the answer is chosen by distances recomputed in float64: which rows are returned never depends on
how a library orders near-equal numbers, nor on what is appended meanwhile (rule 14).
The index knows ids and vectors, not papers.

Up to ``EXACT_UP_TO`` rows of the past, and every row that is added later, are searched exhaustively
and the answer is exact. A larger past is searched by an inverted file; its vectors stay where they
are (in a memory-mapped file, if they come from one) and only codes are held in memory.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import faiss
import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray, VectorArray, zero_rows
from virsci_society.agents.errors import ProtocolError
from virsci_society.society.literature.columns import Ids

if TYPE_CHECKING:
    from virsci_society.society.literature.ivf import IVFIndex


BLOCK_BYTES = 2**20
"""Size of the blocks that later rows fill."""


class FlatIndex:
    """An append-only set of float32 rows, searched exhaustively by Euclidean distance."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.block = max(1, BLOCK_BYTES // (4 * max(1, dim)))
        self._blocks: list[faiss.IndexFlatL2] = []
        self._starts: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, rows: VectorArray) -> None:
        """Append contiguous float32 rows (n x dim)."""
        while len(rows):
            room = self.block - self._blocks[-1].ntotal if self._blocks else 0
            if room <= 0:
                self._blocks.append(faiss.IndexFlatL2(self.dim))
                self._starts.append(self._count)
                room = max(self.block, len(rows))
            self._blocks[-1].add(rows[:room])
            self._count += min(room, len(rows))
            rows = rows[room:]

    def rows(self, wanted: IntArray) -> VectorArray:
        """Read rows back by their numbers, in the given order."""
        rows = np.empty((len(wanted), self.dim), dtype=np.float32)
        blocks = np.searchsorted(self._starts, wanted, side="right") - 1
        for number in np.unique(blocks).tolist():
            inside = blocks == number
            places = wanted[inside] - self._starts[number]
            rows[inside] = self._blocks[number].reconstruct_batch(places)
        return rows

    def propose(self, point: VectorArray, want: int, visible: int) -> tuple[IntArray, float]:
        """Find at least the ``want`` nearest of the first ``visible`` rows, in any order.

        Args:
            want: number of rows wanted, at least 1.
        """
        # OpenMP keeps the number of threads per calling thread, so it is set on every search;
        # one thread gives the same sums on any machine (rule 14).
        faiss.omp_set_num_threads(1)
        nearest: list[VectorArray] = [np.empty(0, np.float32)]
        proposed, reach = [np.empty(0, np.int64)], float("inf")
        for number in range(bisect_left(self._starts, visible)):
            block, first = self._blocks[number], self._starts[number]
            inside = min(block.ntotal, visible - first)
            before = faiss.SearchParameters()
            before.sel = selector = faiss.IDSelectorRange(0, inside)
            squares, rows = block.search(point[None, :], min(want, inside), params=before)
            # Held until here: the parameters of faiss keep no reference to it.
            del selector
            nearest.append(squares[0])
            proposed.append(rows[0] + first)
            if want < inside:
                reach = min(reach, float(squares[0, -1]))
        return _least(np.concatenate(nearest), np.concatenate(proposed), want, reach)


def _least(squares: VectorArray, rows: IntArray, want: int, reach: float) -> tuple[IntArray, float]:
    """Keep the ``want`` nearest of the blocks' proposals; lower the bound on the omitted rows."""
    if len(rows) <= want:
        return rows, reach
    order = np.argpartition(squares, want)
    return rows[order[:want]], min(reach, float(squares[order[want]]))


EXACT_UP_TO = 20_000
"""Rows of the past up to which the search is exhaustive; more are put into an inverted file."""
EXACT_BELOW = 256
"""Number of added rows up to which all of them are ranked without asking faiss."""
CANDIDATES = 4
"""Candidates asked of faiss for each row wanted; also the factor when they were too few."""
BLOCK = 4096
# More than the rounding of a float32 sum of squares of unit rows, so that a row which faiss
# places just outside the proposals cannot be nearer than one inside.
SLACK = 1e-4

Hit = tuple[float, str, int]
"""Distance, id and row number: tuples sort by distance, then id."""


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
        self._flat = FlatIndex(dim)
        self._lock = threading.Lock()
        self._cells: IVFIndex | None = None
        if len(self._past) > EXACT_UP_TO:
            from virsci_society.society.literature.ivf import load_or_build_index

            self._cells = load_or_build_index(self._past)
        else:
            self._flat.add(np.ascontiguousarray(self._past, dtype=np.float32))
            self._past = self._past[:0]

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def facts(self) -> dict[str, Any]:
        """How the past is searched, and the measured recall (1.0 where the search is exact)."""
        if self._cells is None:
            return {"search": "exact", "recall": 1.0}
        return self._cells.facts

    def add(self, ids: Sequence[str], rows: VectorArray) -> None:
        """Append rows (n x dim) under ids that are not known yet."""
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

    def rows(self, numbers: IntArray) -> VectorArray:
        """Read rows by their numbers, in the given order; those of the past and added ones."""
        past = numbers < len(self._past)
        rows = np.empty((len(numbers), self.dim), dtype=np.float32)
        rows[past] = self._past[numbers[past]]
        with self._lock:
            rows[~past] = self._flat.rows(numbers[~past] - len(self._past))
        return rows

    def vector(self, key: str) -> VectorArray:
        """Look up the row of an id."""
        row = self._ids.row_of(key)
        if row is None:
            raise ProtocolError(f"no vector is indexed under {key!r}")
        with self._lock:
            vector: VectorArray = self._rows(np.array([row]))[0]
            return vector

    def search(
        self, query: VectorArray, k: int, visible: int, exclude: frozenset[str] = frozenset()
    ) -> list[tuple[int, float]]:
        """Find the ``k`` nearest of the first ``visible`` rows; past ones of length zero are none.

        Args:
            k: number of rows wanted, at least 0.
        """
        if k < 0 or not 0 <= visible <= len(self._ids):
            raise ProtocolError(f"k={k}, visible={visible} with {len(self._ids)} rows indexed")
        point = np.asarray(query, dtype=np.float32).reshape(self.dim)
        rows = (self._ids.row_of(key) for key in exclude)
        hidden = {row for row in rows if row is not None and row < visible}
        hidden.update(row for row in self._blank if row < visible)
        if k == 0:
            return []
        hits = self._of_cells(point, k, min(visible, len(self._past)), hidden)
        if visible > len(self._past):
            with self._lock:
                hits = sorted(hits + self._of_flat(point, k, visible - len(self._past), hidden))[:k]
        return [(row, distance) for distance, _, row in hits]

    def _of_cells(self, point: VectorArray, k: int, visible: int, hidden: set[int]) -> list[Hit]:
        if not visible:
            return []
        if self._cells is None or visible <= EXACT_UP_TO:
            # So few visible rows are searched exhaustively, as if they were the whole past.
            return self._choose(point, np.arange(visible), k, hidden)
        gone = [row for row in hidden if row < visible]
        rows = self._cells.propose(point, k, visible, gone)
        return self._choose(point, rows, k, hidden)

    def _of_flat(self, point: VectorArray, k: int, visible: int, hidden: set[int]) -> list[Hit]:
        first = len(self._past)
        want = CANDIDATES * k + len(hidden)
        while visible > EXACT_BELOW and want < visible:
            rows, reach = self._propose(point, want, visible)
            hits = self._choose(point, rows + first, k, hidden)
            if reach == math.inf or _certain(hits, k, reach):
                return hits
            want *= CANDIDATES
        return self._choose(point, np.arange(first, first + visible), k, hidden)

    def _propose(self, point: VectorArray, want: int, visible: int) -> tuple[IntArray, float]:
        return self._flat.propose(point, want, visible)

    def _choose(self, point: VectorArray, rows: IntArray, k: int, hidden: set[int]) -> list[Hit]:
        kept = np.array([row for row in rows.tolist() if row not in hidden], dtype=np.int64)
        distances: list[float] = []
        for start in range(0, len(kept), BLOCK):
            rows_read = self._rows(kept[start : start + BLOCK])
            distances += exact_distances(rows_read, point).tolist()
        ids = (self._ids[row] for row in kept.tolist())
        return sorted(zip(distances, ids, kept.tolist(), strict=True))[:k]

    def _rows(self, wanted: IntArray) -> VectorArray:
        # Callers ask for rows of the past or for added rows, never for both at once.
        if len(wanted) and wanted[0] < len(self._past):
            return np.asarray(self._past[wanted])
        return self._flat.rows(wanted - len(self._past))


def exact_distances(rows: VectorArray, point: VectorArray) -> FloatArray:
    """Euclidean distances of float32 rows from a point of float32 numbers, in float64."""
    gaps = rows.astype(np.float64) - point
    distances: FloatArray = np.sqrt(np.square(gaps).sum(axis=1))
    return distances


def _certain(hits: list[Hit], k: int, reach: float) -> bool:
    """Whether these are the nearest, when no omitted row has a squared distance below ``reach``."""
    return len(hits) == k and hits[-1][0] ** 2 + SLACK * (1.0 + reach) < reach
