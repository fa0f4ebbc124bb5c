"""Flat: rows that are searched one by one, in blocks small enough to grow without a stall.

A library's array of rows doubles as it grows; one of 800 MB stops everything for seconds. Here
what arrives at once is one block, and what is added later fills blocks of a megabyte, so that
adding a row never takes longer than copying one. It proposes; it neither ranks by id nor knows any.
"""

from __future__ import annotations

from bisect import bisect_left

import faiss
import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]

BLOCK_BYTES = 2**20


class Flat:
    """An append-only set of rows, searched exhaustively by Euclidean distance."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.block = max(1, BLOCK_BYTES // (4 * max(1, dim)))
        self._blocks: list[faiss.IndexFlatL2] = []
        self._starts: list[int] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, rows: Vectors) -> None:
        """Append contiguous float32 rows."""
        while len(rows):
            room = self.block - self._blocks[-1].ntotal if self._blocks else 0
            if room <= 0:
                self._blocks.append(faiss.IndexFlatL2(self.dim))
                self._starts.append(self._count)
                room = max(self.block, len(rows))
            self._blocks[-1].add(rows[:room])
            self._count += min(room, len(rows))
            rows = rows[room:]

    def rows(self, wanted: Rows) -> Vectors:
        """The rows of these numbers, in this order."""
        found = np.empty((len(wanted), self.dim), dtype=np.float32)
        blocks = np.searchsorted(self._starts, wanted, side="right") - 1
        for number in np.unique(blocks).tolist():
            inside = blocks == number
            places = wanted[inside] - self._starts[number]
            found[inside] = self._blocks[number].reconstruct_batch(places)
        return found

    def propose(self, point: Vectors, want: int, visible: int) -> tuple[Rows, float]:
        """At least the ``want`` nearest of the first ``visible`` rows, in any order.

        Returns:
            Rows, and a squared distance that none of the rows left out is below (as faiss
            computes it); infinite where none is left out.
        """
        # The number of threads belongs to the calling thread in OpenMP, hence on every search.
        faiss.omp_set_num_threads(1)
        nearest: list[npt.NDArray[np.float32]] = [np.empty(0, np.float32)]
        proposed, reach = [np.empty(0, np.int64)], float("inf")
        for number in range(bisect_left(self._starts, visible)):
            block, first = self._blocks[number], self._starts[number]
            inside = min(block.ntotal, visible - first)
            before = faiss.SearchParameters()
            before.sel = selector = faiss.IDSelectorRange(0, inside)
            squares, rows = block.search(point[None, :], min(want, inside), params=before)
            del selector
            nearest.append(squares[0])
            proposed.append(rows[0] + first)
            if want < inside:
                reach = min(reach, float(squares[0, -1]))
        return _least(np.concatenate(nearest), np.concatenate(proposed), want, reach)


def _least(
    squares: npt.NDArray[np.float32], rows: Rows, want: int, reach: float
) -> tuple[Rows, float]:
    """The ``want`` nearest of what the blocks proposed, and what none left out is below."""
    if len(rows) <= want:
        return rows, reach
    order = np.argpartition(squares, want)
    return rows[order[:want]], min(reach, float(squares[order[want]]))
