"""With whom somebody has written, how often and when last, as arrays.

A prolific person has thousands of co-authors, and a draw among them looks at all: as arrays they
take a tenth of the time, and of the memory, that a dictionary takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray


class JointPapers(NamedTuple):
    """The co-authors of somebody, in order of their first joint papers; not to be changed.

    Attributes:
        people: row of each co-author, an array of shape (co-authors,).
        papers: its number of joint papers, of the same shape.
        last: the date of the last of them in days, of the same shape.
    """

    people: IntArray
    papers: IntArray
    last: FloatArray

    @classmethod
    def on(cls, person: int, dated: Iterable[tuple[float, Sequence[int]]]) -> JointPapers:
        """The co-authors of a person on papers given by date and authors, once for each paper."""
        both = [(other, date) for date, team in dated for other in team if other != person]
        people = np.array([other for other, _ in both], dtype=np.int64)
        last = np.array([date for _, date in both], dtype=np.float64)
        return cls(people, np.ones(len(both), np.int64), last)

    def only(self, kept: BoolArray) -> JointPapers:
        """The co-authors that a mask keeps."""
        return JointPapers(self.people[kept], self.papers[kept], self.last[kept])

    def without(self, people: Iterable[int]) -> JointPapers:
        """All but some few people."""
        kept = np.ones(len(self.people), dtype=bool)
        for row in people:
            kept &= self.people != row
        return self.only(kept)


class Distinct:
    """Finds distinct rows in order of first appearance, in time linear in their number.

    Sorting would take longer where a million co-authors of co-authors are counted. One integer is
    kept for each row up to the highest that was asked for.
    """

    def __init__(self) -> None:
        self._first = np.zeros(0, np.int64)

    def find(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """The distinct rows, and for each element of ``rows`` its index among them."""
        order = np.arange(len(rows))
        highest = int(rows.max(initial=-1))
        if highest >= len(self._first):
            self._first = np.zeros(2 * highest + 16, np.int64)
        # Of assignments to one element the last one holds, which is the first appearance here.
        self._first[rows[::-1]] = order[::-1]
        first = self._first[rows]
        new = first == order
        return rows[new], (np.cumsum(new) - 1)[first]

    def merge(self, parts: Sequence[JointPapers]) -> JointPapers:
        """Add up the papers of co-authors who appear several times; the last date is kept."""
        rows, papers, dates = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        people, index = self.find(rows)
        last = np.full(len(people), -np.inf)
        np.maximum.at(last, index, dates)
        totals = np.bincount(index, papers, len(people)).astype(np.int64)
        return JointPapers(people, totals, last)
