"""Interests as rows: those of the first profiles, which never change, and those added later.

A row has unit length, or is zero where no word of the interests is known. Cosines are computed
in float64 from the rows themselves, whatever proposed them.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from society.literature.index_cells import Cells

EXACT_UP_TO = 20_000
"""First profiles that are searched whole; more stand in cells."""
NEVER = np.iinfo(np.int64).max
# More than the rounding of a float32 cosine, so that no better scientist is passed over.
SLACK = 1e-4
EVEN = 1e-3
BLOCK = 65_536
ROOM = 16

Vectors = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]


class First:
    """The rows of the first profiles.

    Args:
        rows: float32, one per profile, of any length; may be a memory-mapped file.
        kept: file that keeps how many rows are sorted into cells.
    """

    def __init__(self, rows: Vectors, kept: Path | None = None) -> None:
        # Where they are: a file of a million rows is not copied for the sake of rounding.
        self._as_given = len(rows) > EXACT_UP_TO and _even(rows)
        self._rows = rows if self._as_given else unit(rows)
        self._cells: Cells | None = None
        if len(rows) > EXACT_UP_TO:
            from society.literature.index_kept import cells_of

            self._cells = cells_of(self._rows, kept, "cosine")

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def facts(self) -> dict[str, Any]:
        """How they are searched, and the recall measured of it (1.0 where it is exact)."""
        if self._cells is None:
            return {"search": "exact", "recall": 1.0}
        return self._cells.facts

    def rows(self, wanted: Rows) -> Vectors:
        """The unit rows of these numbers."""
        found = np.asarray(self._rows[wanted])
        return unit(found) if self._as_given else found

    def near(self, query: Vectors, k: int, visible: int, hidden: Collection[int]) -> Rows:
        """Rows among which are the ``k`` nearest of the first ``visible`` that are not hidden."""
        if self._cells is not None and visible > EXACT_UP_TO:
            gone = [row for row in hidden if row < visible]
            return self._cells.propose(query, k, visible, gone)
        live = np.ones(visible, dtype=bool)
        live[[row for row in hidden if row < visible]] = False
        return plausible(np.flatnonzero(live), self._rows[:visible] @ query, k)


class Added:
    """Rows added since, each holding from one version to another."""

    def __init__(self, dim: int) -> None:
        self._lock = threading.Lock()
        self._vectors = np.zeros((ROOM, dim), dtype=np.float32)
        self._until = np.full(ROOM, NEVER, dtype=np.int64)
        self._since: list[int] = []
        self.owners: list[str] = []

    def append(self, owner: str, since: int, vector: Vectors) -> int:
        """Add a scientist's unit row, which holds above version ``since``; its number."""
        number = len(self._since)
        with self._lock:
            if number == len(self._until):
                self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
                never = np.full(number, NEVER, dtype=np.int64)
                self._until = np.concatenate([self._until, never])
            self._vectors[number] = vector
        self.owners.append(owner)
        self._since.append(since)
        return number

    def end(self, number: int, version: int) -> None:
        """The row holds up to this version and no longer."""
        # Readers of a version up to this one find the row live with either value.
        self._until[number] = version

    def row(self, number: int) -> Vectors:
        """The unit row of a number."""
        vector: Vectors = self._vectors[number]
        return vector

    def near(
        self, query: Vectors, k: int, version: int, hidden: Collection[int]
    ) -> tuple[Rows, Vectors]:
        """Numbers, and unit rows, among which are the ``k`` nearest of a version."""
        count = bisect_left(self._since, version)
        with self._lock:
            # Together: growth replaces both.
            vectors, until = self._vectors[:count], self._until[:count]
        live = until >= version
        live[[number for number in hidden if number < count]] = False
        # Interests that drift leave many rows that have ended, which are not worth a look.
        numbers = np.flatnonzero(live)
        rows = vectors[numbers]
        found = plausible(np.arange(len(numbers)), rows @ query, k)
        return numbers[found], rows[found]


def plausible(rows: Rows, scores: Vectors, k: int) -> Rows:
    """Those of some rows whose score is at least the ``k``-th largest among them, or nearly."""
    if len(rows) <= k:
        return rows
    among = scores[rows]
    least = np.partition(among, len(among) - k)[len(among) - k]
    kept: Rows = rows[among >= least - SLACK]
    return kept


def unit(rows: Vectors) -> Vectors:
    """The rows at length 1; zero rows stay."""
    found = np.empty(rows.shape, dtype=np.float32)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        lengths = np.sqrt(np.square(block.astype(np.float64)).sum(axis=1, keepdims=True))
        found[start : start + BLOCK] = block / np.where(lengths > 0, lengths, 1.0)
    return found


def _even(rows: Vectors) -> bool:
    """Are all rows of unit length already, or zero?"""
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK].astype(np.float64)
        squares = np.square(block).sum(axis=1)
        if (np.abs(squares[squares > 0] - 1.0) > EVEN).any():
            return False
    return True
