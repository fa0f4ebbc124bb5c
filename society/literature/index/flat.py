"""Exhaustive search over rows in fixed blocks, which grow without a stall.

The array of one large faiss index doubles as it grows; at 800 MB that stops every thread for
seconds. Here the rows that arrive together are one block, and rows added later fill blocks of a
megabyte, so that adding a row never takes longer than copying one block. The index proposes rows;
it knows no ids and does not break ties.
"""

from __future__ import annotations

from bisect import bisect_left

import faiss
import numpy as np

from virsci_society.agents.arrays import IntArray, VectorArray

BLOCK_BYTES = 2**20
"""Size of the blocks that later rows fill."""


class FlatIndex:
    """An append-only set of float32 rows, searched exhaustively by Euclidean distance.

    Args:
        dim: length of a row.
    """

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
            point: the query, dim numbers.
            want: number of rows wanted, at least 1.
            visible: only rows below this number count.

        Returns:
            Row numbers, and a squared distance that no omitted row is below (as faiss computes it);
            infinite where no row is omitted.
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
