"""Who wrote which papers and when, as arrays: all that models of team assembly need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.agents.lazy_imports import pa, pc

if TYPE_CHECKING:
    from virsci_society.society.literature.papers import Papers


FIRST, LAST = 1, 2


@dataclass(frozen=True, eq=False)
class Authorships:
    """Who wrote which papers and when: papers in order of date, authors in author order.

    Attributes:
        dates: days since the boundary, never decreasing.
        starts: where the authors of each paper begin in ``authors``, and their number at the end.
        places: of each authorship ``FIRST`` for the first author of the paper as it was published,
            ``LAST`` for the last, their sum for a single one and 0 for the others; None: no paper
            has an author who is left out here.
    """

    dates: FloatArray
    starts: IntArray
    authors: IntArray
    people: int
    places: IntArray | None = None

    @classmethod
    def of(
        cls, dated: Iterable[tuple[float, Sequence[int]]], people: int | None = None
    ) -> Authorships:
        """Make the arrays of papers given one by one."""
        papers = list(dated)
        lengths = [len(authors) for _, authors in papers]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
        flat = [author for _, authors in papers for author in authors]
        authors = np.array(flat, dtype=np.int64)
        number = int(authors.max(initial=-1)) + 1 if people is None else people
        dates = np.array([date for date, _ in papers], dtype=np.float64)
        return cls(dates, starts, authors, number)

    def __len__(self) -> int:
        return len(self.dates)

    def led(self, place: int) -> BoolArray:
        """Whether each authorship is of a ``FIRST`` or ``LAST`` author."""
        places = outer_places(self.sizes) if self.places is None else self.places
        return (places & place) > 0

    def authors_of(self, paper: int) -> IntArray:
        """The authors of one paper, in author order."""
        return self.authors[self.starts[paper] : self.starts[paper + 1]]

    @cached_property
    def papers_by_person(self) -> list[list[int]]:
        """The numbers of the papers of each person, in order of date; not to be changed."""
        order = np.argsort(self.authors, kind="stable")
        papers = np.repeat(np.arange(len(self), dtype=np.int64), self.sizes)[order].tolist()
        ends = np.cumsum(np.bincount(self.authors, minlength=self.people)).tolist()
        return [papers[a:b] for a, b in pairwise([0, *ends])]

    @cached_property
    def teams(self) -> list[tuple[int, ...]]:
        """The authors of each paper, in author order."""
        starts, authors = self.starts.tolist(), self.authors.tolist()
        return [tuple(authors[a:b]) for a, b in pairwise(starts)]

    def joint_papers(self, person: int) -> JointPapers:
        """The co-authors of a person; the result is kept for the next question."""
        kept, distinct = self._joint
        if person not in kept:
            papers = self.papers_by_person[person]
            dated = ((float(self.dates[paper]), self.teams[paper]) for paper in papers)
            kept[person] = distinct.merge([JointPapers.on(person, dated)])
        return kept[person]

    @cached_property
    def _joint(self) -> tuple[dict[int, JointPapers], Distinct]:
        return {}, Distinct()

    @property
    def sizes(self) -> IntArray:
        """The number of authors of each paper."""
        return np.diff(self.starts)

    def of_people(self, chosen: IntArray) -> Authorships:
        """The papers of some people (ascending), who get the numbers 0, 1, ... in their order."""
        numbers = np.full(self.people, -1, dtype=np.int64)
        numbers[chosen] = np.arange(len(chosen))
        renamed = numbers[self.authors]
        kept = renamed >= 0
        papers = np.repeat(np.arange(len(self), dtype=np.int64), self.sizes)[kept]
        sizes = np.bincount(papers, minlength=len(self))
        some = sizes > 0
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[some], dtype=np.int64)])
        places = outer_places(self.sizes) if self.places is None else self.places
        return Authorships(self.dates[some], starts, renamed[kept], len(chosen), places[kept])

    def dated(self) -> list[tuple[float, list[int]]]:
        """The date and the authors of each paper."""
        starts, authors = self.starts.tolist(), self.authors.tolist()
        ends = pairwise(starts)
        return [
            (date, authors[a:b]) for date, (a, b) in zip(self.dates.tolist(), ends, strict=True)
        ]

    def counted_from(self, day: float) -> Authorships:
        """The same papers with dates counted from another day."""
        return replace(self, dates=self.dates - day)

    def between(self, first: float, last: float) -> Authorships:
        """The papers dated from ``first`` on and before ``last``; people keep their numbers."""
        begin, end = np.searchsorted(self.dates, [first, last], side="left")
        starts = self.starts[begin : end + 1]
        kept = slice(int(starts[0]), int(starts[-1]))
        places = None if self.places is None else self.places[kept]
        authors = self.authors[kept]
        return Authorships(self.dates[begin:end], starts - starts[0], authors, self.people, places)


def outer_places(sizes: IntArray) -> IntArray:
    """``FIRST`` and ``LAST`` of the authorships of papers with these numbers of authors."""
    ends = np.cumsum(sizes[sizes > 0])
    places = np.zeros(int(sizes.sum()), dtype=np.int64)
    places[ends - sizes[sizes > 0]] += FIRST
    places[ends - 1] += LAST
    return places


def authorships_of(papers: Papers, rows: dict[str, int], people: int) -> Authorships:
    """The authorships of papers by people who have a row; other authors are left out."""
    named = pc.list_flatten(papers.table["authors"])
    if isinstance(named, pa.ChunkedArray):
        named = named.combine_chunks()
    encoded = named.dictionary_encode()
    named_as = np.asarray(encoded.indices, dtype=np.int64)
    of_paper = np.repeat(np.arange(len(papers), dtype=np.int64), papers.team_sizes)
    # A source may name an author of a paper twice: the first time counts.
    _, first = np.unique(of_paper * max(1, len(encoded.dictionary)) + named_as, return_index=True)
    # ``unique`` sorts by value: sorted by position, papers and authors are in the given order.
    first.sort()
    of_paper = of_paper[first]
    ends = outer_places(np.bincount(of_paper, minlength=len(papers)))
    people_rows = [rows.get(name, -1) for name in encoded.dictionary.to_pylist()]
    numbers = np.array(people_rows, dtype=np.int64)[named_as[first]]
    kept = numbers >= 0
    sizes = np.bincount(of_paper[kept], minlength=len(papers))
    some = sizes > 0
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[some], dtype=np.int64)])
    return Authorships(papers.dates[some], starts, numbers[kept], people, ends[kept])


class JointPapers(NamedTuple):
    """The co-authors of somebody: their rows, numbers of joint papers, and dates of the last."""

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
    """Finds distinct rows in order of first appearance, in time linear in their number."""

    def __init__(self) -> None:
        self._first = np.zeros(0, np.int64)

    def find(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """The distinct rows, and for each element of ``rows`` its index among them."""
        order = np.arange(len(rows))
        highest = int(rows.max(initial=-1))
        if highest >= len(self._first):
            self._first = np.zeros(2 * highest + 16, np.int64)
        # The last assignment to an element wins, which is the first appearance here.
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
