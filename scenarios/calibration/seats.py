"""Facts of every authorship, such as who is new, whose partner was there, which team wrote again.

Only the order of periods (years) counts, because real papers are mostly dated by the year: papers
of one period know nothing of each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.society.literature.authorships import Authorships
from virsci_society.society.literature.papers import DAYS_PER_YEAR

Leader = Literal["first", "last"]
"""Which author of a real paper is taken for the leader of its team."""
RECENT = 3
"""Periods within which a team is one that writes again."""


class CareerHistory:
    """The papers of everybody by period (a year), from which every seat is described."""

    def __init__(self, works: Authorships, leader: Leader = "last") -> None:
        self.works, self.leader = works, leader
        self.periods: IntArray = np.floor(works.dates / DAYS_PER_YEAR).astype(np.int64)
        self.teams, self.papers_of = works.teams, works.papers_by_person
        never = int(self.periods.max(initial=0)) + 1
        self.first: IntArray = np.full(works.people, never, dtype=np.int64)
        np.minimum.at(self.first, works.authors, np.repeat(self.periods, works.sizes))

    def papers_before(self, person: int, period: int) -> Iterator[int]:
        """Numbers of the papers of a person in earlier periods, the latest first."""
        for number in reversed(self.papers_of[person]):
            if self.periods[number] < period:
                yield number

    def partners(self, person: int, period: int) -> dict[int, tuple[int, int]]:
        """Joint papers and the period of the last one, of each co-author in earlier periods."""
        found: dict[int, tuple[int, int]] = {}
        for number in self.papers_before(person, period):
            when = int(self.periods[number])
            for other in self.teams[number]:
                if other != person:
                    joint, last = found.get(other, (0, when))
                    found[other] = joint + 1, last
        return found


@dataclass(frozen=True, eq=False)
class Seats:
    """Every authorship of some papers.

    Attributes:
        entries: of an author without a paper in an earlier period, 1 / its papers in this one: one
            entry per person, spread over the papers of the first period; 0 for an incumbent.
        repeated: the paper's team wrote again: at least half of it, and two people, wrote one
            paper together in the three periods before.
        relation: of an incumbent that does not lead: 1 a former partner of another author, 2 a
            partner of such a partner, 3 a stranger; 0 else, and where no other incumbent is there.
    """

    paper: IntArray
    period: IntArray
    person: IntArray
    size: IntArray
    entries: FloatArray
    repeated: BoolArray
    stayed: BoolArray
    others: IntArray
    leads: BoolArray
    relation: IntArray

    @classmethod
    def of(cls, history: CareerHistory, first: int, last: int) -> Seats:
        """Describe every authorship of the periods ``first`` to ``last`` - 1."""
        low, high = np.searchsorted(history.periods, [first, last], side="left")
        rows = [row for number in range(low, high) for row in _seats_of(history, number)]
        columns = list(zip(*rows, strict=True)) or [()] * len(KINDS)
        return cls(*(np.array(one, dtype=kind) for one, kind in zip(columns, KINDS, strict=True)))

    def at(self, rows: BoolArray | IntArray) -> Seats:
        """Some of them, by a mask or by their numbers."""
        return Seats(*(getattr(self, one.name)[rows] for one in fields(self)))

    def of_papers(self, papers: IntArray) -> Seats:
        """The authorships of some papers, those of a paper that is named twice twice."""
        order = np.argsort(self.paper, kind="stable")
        ordered = self.paper[order]
        low = np.searchsorted(ordered, papers, side="left")
        counts = np.searchsorted(ordered, papers, side="right") - low
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.at(order[np.repeat(low, counts) + within])


KINDS = (*[np.int64] * 4, np.float64, bool, bool, np.int64, bool, np.int64)
"""Types of the columns of ``Seats``, in their order."""


def _seats_of(history: CareerHistory, number: int) -> Iterator[tuple[float, ...]]:
    """The authorships of one paper, as rows of ``Seats``."""
    team, period = history.teams[number], int(history.periods[number])
    known = [one for one in team if history.first[one] < period]
    earlier = _earlier_team(history, team, known, period)
    partners = {one: history.partners(one, period) for one in known}
    leader = 0 if history.leader == "first" else len(team) - 1
    for position, one in enumerate(team):
        share, relation, leads = 0.0, 0, position == leader
        if one not in partners:
            mine = [n for n in history.papers_of[one] if history.periods[n] == period]
            share = 1 / len(mine)
        elif not leads and len(known) > 1:
            others = [other for other in known if other != one]
            near = {far for other in others for far in partners[other]}
            if any(other in partners[one] for other in others):
                relation = 1
            else:
                relation = 2 if any(friend in near for friend in partners[one]) else 3
        yield (
            *(number, period, one, len(team), share),
            *(bool(earlier), one in earlier, max(0, len(earlier) - 1), leads, relation),
        )


def _earlier_team(
    history: CareerHistory, team: tuple[int, ...], known: list[int], period: int
) -> tuple[int, ...]:
    """The recent paper that most of the team wrote, where it is at least half of the team."""
    overlaps: dict[int, int] = {}
    for one in known:
        for paper in history.papers_before(one, period):
            if history.periods[paper] < period - RECENT:
                break
            overlaps[paper] = overlaps.get(paper, 0) + 1
    best: tuple[int, ...] = ()
    most = 0.0
    # By number, which is by date: of papers that are equally alike the latest is taken.
    for paper in sorted(overlaps):
        joint, size = overlaps[paper], len(history.teams[paper])
        alike = joint / (len(team) + size - joint)
        if joint >= 2 and 2 * joint >= len(team) and alike >= most:
            best, most = history.teams[paper], alike
    return best
