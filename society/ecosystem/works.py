"""Works: the papers of a made-up community in columns of numbers, without any words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from society.ecosystem.community import Community

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Works:
    """Papers in order of year, with authors and references as numbers.

    Attributes:
        years: calendar year of each.
        fields: research field of each.
        people: how many different people wrote them; numbered as they first appear.
        author_starts: where each paper's authors begin, n + 1 numbers.
        authors: person of each seat.
        reference_starts: where each paper's references begin, n + 1 numbers.
        references: numbers of cited papers.
    """

    years: Numbers
    fields: Numbers
    people: int
    author_starts: Numbers
    authors: Numbers
    reference_starts: Numbers
    references: Numbers

    @classmethod
    def of(cls, community: Community) -> Works:
        """The same papers as a community has written so far."""
        works = community.works
        return cls(
            years=_numbers(work.year for work in works),
            fields=_numbers(work.field for work in works),
            people=len(community.people),
            author_starts=_starts(len(work.authors) for work in works),
            authors=_numbers(chain.from_iterable(work.authors for work in works)),
            reference_starts=_starts(len(work.references) for work in works),
            references=_numbers(chain.from_iterable(work.references for work in works)),
        )

    def __len__(self) -> int:
        return len(self.years)

    def before(self, year: int) -> int:
        """Number of papers before a year; they are the first."""
        return int(np.searchsorted(self.years, year))

    def cited(self, papers: int) -> Numbers:
        """How often the first ``papers`` papers cite each paper."""
        inside = self.references[: self.reference_starts[papers]]
        return np.bincount(inside, minlength=len(self)).astype(np.int64)

    def seats(self, papers: int) -> tuple[Numbers, Numbers]:
        """Paper and person of every seat on the first ``papers`` papers."""
        sizes = np.diff(self.author_starts[: papers + 1])
        return np.repeat(np.arange(papers), sizes), self.authors[: self.author_starts[papers]]


def _numbers(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, np.int64)


def _starts(sizes: Iterable[int]) -> Numbers:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(_numbers(sizes))])
