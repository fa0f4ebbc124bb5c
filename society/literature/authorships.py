"""Who wrote which papers when, in arrays: the form in which assembly is simulated and measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Authorships:
    """Who wrote which papers when: papers in order of date, authors in author order.

    Attributes:
        dates: days, one per paper, ascending; where only the year is known, 1 January.
        starts: where the authors of each paper begin; one more than there are papers.
        authors: numbers of people, 0 .. people - 1, nobody twice on a paper.
        people: how many numbers there are; not every one need have a paper.
    """

    dates: FloatArray
    starts: IntArray
    authors: IntArray
    people: int

    def between(self, first: float, last: float) -> Authorships:
        """The papers with ``first`` <= date < ``last``; people keep their numbers."""
        low, high = np.searchsorted(self.dates, [first, last], side="left")
        starts = self.starts[low : high + 1]
        inside = self.authors[starts[0] : starts[-1]]
        return Authorships(self.dates[low:high], starts - starts[0], inside, self.people)
