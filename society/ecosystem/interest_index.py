"""Vectors of scientists' interests, searched by cosine as of a version of the knowledge bank.

The rows of the initial profiles never change; rows added later hold from one version to another. A
row has unit length, or is zero where no word of the interests is known. The indexes propose
candidates; cosines are computed in float64 from the rows themselves, so that the result does not
depend on how candidates were found (rule 14).
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from virsci_society.agents.arrays import IntArray, VectorArray

if TYPE_CHECKING:
    from virsci_society.society.literature.index.ivf import IVFIndex

EXACT_UP_TO = 20_000
"""Initial profiles up to which the search is exhaustive; more are put into an inverted file."""
NEVER = np.iinfo(np.int64).max
"""Version at which a row that still holds ends."""
# More than the rounding of a float32 cosine, so that no better scientist is left out.
SLACK = 1e-4
EVEN = 1e-3
"""Tolerance within which a squared length counts as 1."""
BLOCK = 65_536
ROOM = 16
"""Rows for which there is space at first."""


class InitialInterests:
    """The interest vectors of the initial profiles.

    Args:
        rows: float32, one per profile, of any length; may be a memory-mapped file.
        layout_file: file that keeps the inverted file's layout of many rows.
    """

    def __init__(self, rows: VectorArray, layout_file: Path | None = None) -> None:
        # Unit rows are used in place: a mapped file of a million rows is not copied.
        self._as_given = len(rows) > EXACT_UP_TO and _is_normalized(rows)
        self._rows = rows if self._as_given else normalize_rows(rows)
        self._cells: IVFIndex | None = None
        if len(rows) > EXACT_UP_TO:
            from virsci_society.society.literature.index.ivf import load_or_build_index

            self._cells = load_or_build_index(self._rows, layout_file, "cosine")

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def facts(self) -> dict[str, Any]:
        """How the rows are searched, and the measured recall (1.0 where the search is exact)."""
        if self._cells is None:
            return {"search": "exact", "recall": 1.0}
        return self._cells.facts

    def rows(self, wanted: IntArray) -> VectorArray:
        """The unit rows of these numbers, in this order."""
        rows = np.asarray(self._rows[wanted])
        return normalize_rows(rows) if self._as_given else rows

    def candidates(
        self, query: VectorArray, k: int, visible: int, hidden: Collection[int]
    ) -> IntArray:
        """Find rows among which are the ``k`` nearest of the visible ones.

        Args:
            query: a unit row of dim numbers.
            k: number of scientists wanted, at least 1.
            visible: only rows below this number count.
            hidden: rows that are left out.

        Returns:
            Row numbers in any order, usually more than ``k``.
        """
        if self._cells is not None and visible > EXACT_UP_TO:
            gone = [row for row in hidden if row < visible]
            return self._cells.propose(query, k, visible, gone)
        live = np.ones(visible, dtype=bool)
        live[[row for row in hidden if row < visible]] = False
        return select_candidates(np.flatnonzero(live), self._rows[:visible] @ query, k)


class AddedInterests:
    """Interest vectors added since the start, each valid from one version to another.

    One thread adds while others search; a search copies nothing but the valid rows.

    Args:
        dim: length of a row.
    """

    def __init__(self, dim: int) -> None:
        self._lock = threading.Lock()
        self._vectors = np.zeros((ROOM, dim), dtype=np.float32)
        self._until = np.full(ROOM, NEVER, dtype=np.int64)
        self._since: list[int] = []
        self.owners: list[str] = []

    def append(self, owner: str, since: int, vector: VectorArray) -> int:
        """Add a scientist's row.

        Args:
            owner: the scientist's id.
            since: the row is valid above this version.
            vector: a unit row of dim numbers.

        Returns:
            The number of the row.
        """
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

    def expire(self, number: int, version: int) -> None:
        """Let a row be valid up to a version and no longer."""
        # Without the lock: readers of a version up to this one find the row valid with either
        # value, and later versions are not visible yet.
        self._until[number] = version

    def row(self, number: int) -> VectorArray:
        """The unit row of a number."""
        vector: VectorArray = self._vectors[number]
        return vector

    def candidates(
        self, query: VectorArray, k: int, version: int, hidden: Collection[int]
    ) -> tuple[IntArray, VectorArray]:
        """Find rows among which are the ``k`` nearest at a version.

        Args:
            query: a unit row of dim numbers.
            k: number of scientists wanted, at least 1.
            version: only rows that are valid at this version count.
            hidden: numbers of rows that are left out.

        Returns:
            Numbers and unit rows, in the same order, usually more than ``k``.
        """
        count = bisect_left(self._since, version)
        with self._lock:
            # Under one lock, because ``append`` replaces both arrays when they grow.
            vectors, until = self._vectors[:count], self._until[:count]
        live = until >= version
        live[[number for number in hidden if number < count]] = False
        # Drifting interests leave many expired rows; computing only valid ones saves time.
        numbers = np.flatnonzero(live)
        rows = vectors[numbers]
        chosen = select_candidates(np.arange(len(numbers)), rows @ query, k)
        return numbers[chosen], rows[chosen]


def select_candidates(rows: IntArray, scores: VectorArray, k: int) -> IntArray:
    """Keep the rows whose score is at least the ``k``-th largest, up to rounding.

    Args:
        rows: row numbers.
        scores: float32 scores, indexed by row number.
        k: number of rows wanted, at least 1.

    Returns:
        The rows that may be among the ``k`` best once scores are computed exactly.
    """
    if len(rows) <= k:
        return rows
    among = scores[rows]
    least = np.partition(among, len(among) - k)[len(among) - k]
    kept: IntArray = rows[among >= least - SLACK]
    return kept


def normalize_rows(rows: VectorArray) -> VectorArray:
    """Scale rows to unit length; zero rows stay zero."""
    normalized = np.empty(rows.shape, dtype=np.float32)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        lengths = np.sqrt(np.square(block.astype(np.float64)).sum(axis=1, keepdims=True))
        normalized[start : start + BLOCK] = block / np.where(lengths > 0, lengths, 1.0)
    return normalized


def _is_normalized(rows: VectorArray) -> bool:
    """Whether all rows have unit length already, or are zero."""
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK].astype(np.float64)
        squares = np.square(block).sum(axis=1)
        if (np.abs(squares[squares > 0] - 1.0) > EVEN).any():
            return False
    return True
