"""The authors outside the population of a society: how many a paper names, and who they are.

A population that holds only some of a corpus's authors, such as those with five papers, writes with
people who are not in it. A rule of outside seats (``population.outside_seats``) gives a paper such
co-authors. They are named on it and nothing else: they are nobody's members, are not asked, take no
part in meetings and make no calls.

They are known by the masked names of the ecosystem (``Author12``). Whoever has never published gets
a name made of the paper's id (``Scientist3/2/Outside1``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.agents.lazy_imports import pc
from virsci_society.society.kernel.durations import Days, write_days
from virsci_society.society.literature.authorships import Authorships, authorships_of
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers
from virsci_society.society.population.event_counts import FadingPapers, PaperHistory

LEAST = 20
"""Past papers among which a number of outside authors is drawn, where there are as many."""


@dataclass(frozen=True, eq=False)
class PastSeats:
    """The past papers with at least one author in the population, as the rules count them.

    Attributes:
        inside: the number of authors in the population of each paper, >= 1.
        outside: the number of its other authors.
        p: share of the outside authorships of authors who had published before, 0..1.
        q: share of those whose author had a joint paper with an inside author of the paper, 0..1.
    """

    inside: IntArray
    outside: IntArray
    p: float
    q: float

    def outside_beside(self, members: int) -> IntArray:
        """The numbers of outside authors of papers with so many authors in the population.

        Where fewer than ``LEAST`` papers have that number, those with the nearest numbers count
        too.
        """
        off = np.abs(self.inside - members)
        least = min(LEAST, len(off))
        found: IntArray = self.outside[off <= np.partition(off, least - 1)[least - 1]]
        return found


class OutsideSeats(Part):
    """A rule of outside seats; subclass it and write ``number``.

    Each outside seat is taken by an author who has published before with probability ``p``, and
    else by one who never has. One who has is with probability ``q`` a former co-author of a member,
    drawn by the number of joint papers and the time since the last; else, or where there is none,
    any other outside author, drawn by the number of papers, whose weights fade with age. These are
    the probabilities of Guimera et al. (2005) for the seats of people who are not simulated.
    """

    p: float | None = Field(default=None, ge=0, le=1)
    """Probability that an outside author has published before; null: as counted on past papers.
    Unit: probability. Source: Guimera et al. 2005; counted on the past papers."""
    q: float | None = Field(default=None, ge=0, le=1)
    """Probability that one who has is a former co-author of a member; null: as counted. Unit:
    probability. Source: Guimera et al. 2005; counted on the past papers."""
    since: Days | None = Field(default=5 * DAYS_PER_YEAR, gt=0)
    """Only papers of the last so much time before day 0 are counted; null: those of all years.
    Unit: days. Source: assumed."""
    memory: Days | None = Field(default=3 * DAYS_PER_YEAR, gt=30, le=36_500)
    """Time after which the weight of a paper has fallen to 1/e; null: it stays. Unit: days. Source:
    assumed."""

    @property
    def counts(self) -> bool:
        """Whether anything is counted on past papers."""
        return self.p is None or (self.p > 0 and self.q is None)

    def number(self, members: int, past: PastSeats, rng: np.random.Generator) -> int:
        """Draw how many outside authors a paper has."""
        raise NotImplementedError


class CountedSeats(OutsideSeats):
    """As many as on a past paper with the same number of authors in the population."""

    @property
    def counts(self) -> bool:
        """Numbers are counted on past papers, whatever else is."""
        return True

    def number(self, members: int, past: PastSeats, rng: np.random.Generator) -> int:
        """Draw the number of one of these papers."""
        numbers = past.outside_beside(members)
        return int(numbers[rng.integers(len(numbers))])


class PoissonSeats(OutsideSeats):
    """A Poisson number with a stated mean, whatever the number of members."""

    mean: float = Field(ge=0, le=1000, allow_inf_nan=False)
    """Mean number of outside authors of a paper. Unit: authors. Source: the user's choice."""

    def number(self, members: int, past: PastSeats, rng: np.random.Generator) -> int:
        """Draw a Poisson number."""
        return int(rng.poisson(self.mean))


KEY = "population.outside_seats"
MOST_DRAWS = 64
"""Draws of an outside author who is no former co-author, after which there is taken to be none."""


class OutsideAuthors:
    """Who from outside has written what and with whom, and who is named on the next paper.

    Inside and outside authors have numbers of their own here: the rows of the people of day 0, the
    outside authors of the past after them, and everybody else as they write their first paper.
    Papers are counted strictly before the date of a draw (rule 16).

    Args:
        past: the papers from before day 0.
        rows: rows of the people of day 0, by name.
    """

    def __init__(self, rule: OutsideSeats, past: Papers, rows: Mapping[str, int]) -> None:
        self._rule, self._rows, self._day = rule, len(rows), 0.0
        whole, outside = all_authorships(past, rows)
        self._names = dict(enumerate(outside, start=len(rows)))
        self._people = whole.people
        self._newcomers: dict[int, int] = {}
        self._past = past_seats(rule, whole, len(rows))
        self._p = self._past.p if rule.p is None else rule.p
        self._q = self._past.q if rule.q is None else rule.q
        self._history = PaperHistory(lambda: whole, lambda: self._day)
        self._fading = FadingPapers(self._history, rule.memory, 1.0, self._outside_among)

    def draw(
        self, paper: str, members: Sequence[int], day: float, rng: np.random.Generator
    ) -> tuple[str, ...]:
        """Draw the outside authors (names, each once) of a paper, and note that they wrote it.

        Args:
            members: rows of its authors in the society, at least one.
            day: the date in days, not before that of the last draw.
        """
        self._day = day
        inside = [self._number_of(row) for row in members]
        partners = self._former_coauthors(inside)
        chosen: list[int] = []
        new = 0
        for _ in range(self._rule.number(len(inside), self._past, rng)):
            number = self._draw_author(partners, chosen, rng) if rng.random() < self._p else None
            if number is None:
                new += 1
                number = self._add_person()
                self._names[number] = f"{paper}/Outside{new}"
            chosen.append(number)
        self._history.record([*inside, *chosen])
        return tuple(self._names[number] for number in chosen)

    def _draw_author(
        self, partners: Mapping[int, float], chosen: Sequence[int], rng: np.random.Generator
    ) -> int | None:
        """An outside author who has published, and is not chosen yet; None where none is found."""
        # Drawn in any case: whether there are former co-authors shifts no later draw.
        if rng.random() < self._q:
            left = {one: weight for one, weight in partners.items() if one not in chosen}
            totals = np.cumsum(list(left.values()))
            if left and totals[-1] > 0:
                place = int(np.searchsorted(totals, rng.random() * totals[-1], side="right"))
                return [*left][min(place, len(left) - 1)]
        for _ in range(MOST_DRAWS if self._fading.total > 0 else 0):
            number = self._fading.person_at(rng.random())
            if number not in chosen and number not in partners:
                return number
        return None

    def _former_coauthors(self, inside: Sequence[int]) -> dict[int, float]:
        """The outside co-authors of some members, each with its weight.

        The weight is the sum over the members of the joint papers, which fades with the time since
        the last of them.
        """
        memory = self._rule.memory
        weights: dict[int, float] = {}
        for member in inside:
            found = self._history.joint_papers(member)
            for other, papers, last in zip(*(each.tolist() for each in found), strict=True):
                if other in self._names:
                    age = 0.0 if memory is None else (self._day - last) / memory
                    weights[other] = weights.get(other, 0.0) + papers * math.exp(-age)
        return weights

    def _number_of(self, row: int) -> int:
        """The number of a person of the society."""
        if row < self._rows:
            return row
        number = self._newcomers.get(row)
        if number is None:
            number = self._newcomers[row] = self._add_person()
        return number

    def _add_person(self) -> int:
        self._people += 1
        return self._people - 1

    def _outside_among(self, first: int, last: int) -> FloatArray:
        """1 for the outside authors and 0 for the others of the numbers from first to last."""
        return np.array([float(number in self._names) for number in range(first, last)])


def member_places(
    members: int, outside: int, leader_last: bool, rng: np.random.Generator
) -> list[int]:
    """Draw the places (from 0, ascending) of the members among all authors of a paper.

    The members keep their order, and the leader stands first or last. Outside authors take any of
    the other places, each alike.
    """
    places = range(members + outside)
    if not outside:
        return [*places]
    free = places[:-1] if leader_last else places[1:]
    taken = set(rng.choice(free, outside, replace=False).tolist())
    return [place for place in places if place not in taken]


def all_authorships(past: Papers, rows: Mapping[str, int]) -> tuple[Authorships, list[str]]:
    """The authorships of past papers, with numbers for authors outside the population too.

    Their numbers follow the last row of the population; their names are returned beside.
    """
    named: list[str] = pc.unique(pc.list_flatten(past.table["authors"])).to_pylist()
    outside = [name for name in named if name not in rows]
    numbers = dict(zip(outside, range(len(rows), len(rows) + len(outside)), strict=True))
    return authorships_of(past, {**rows, **numbers}, len(rows) + len(outside)), outside


def past_seats(rule: OutsideSeats, whole: Authorships, people: int) -> PastSeats:
    """What a rule counts on past papers; the population has numbers from 0 on."""
    counted = count_past_seats(whole, people, rule.since)
    if whole.people == people and (rule.counts or rule.p != 0):
        raise InputError(
            f"{KEY}: every author of the past papers is in the population, so nobody is outside: "
            "leave it out, or build the ecosystem with a filter on people, such as --min-papers 5"
        )
    if rule.counts and not counted.outside.any():
        when = "" if rule.since is None else f" of the last {write_days(rule.since)}"
        raise InputError(
            f"{KEY}: no past paper{when} has both an author in the population and one outside it, "
            "so there is nothing to count: leave it out, give a longer since, or build the "
            "ecosystem with a filter on people that is not a time"
        )
    return counted


def count_past_seats(whole: Authorships, people: int, since: float | None) -> PastSeats:
    """Count the inside and outside authors of past papers, and what was known of the latter.

    Papers of one date know nothing of each other. Counted are papers of the last ``since`` days;
    None: all.
    """
    first: dict[int, float] = {}
    met: dict[tuple[int, int], float] = {}
    inside, outside, known, partners = [], [], 0, 0
    for date, authors in whole.dated():
        own = [author for author in authors if author < people]
        others = [author for author in authors if author >= people]
        published = sum(first.setdefault(author, date) < date for author in others)
        repeated = [[met.setdefault((one, two), date) < date for one in own] for two in others]
        if own and (since is None or date >= -since):
            inside.append(len(own))
            outside.append(len(others))
            known += published
            partners += sum(map(any, repeated))
    seats = sum(outside)
    return PastSeats(
        np.array(inside, dtype=np.int64),
        np.array(outside, dtype=np.int64),
        known / seats if seats else 0.0,
        partners / known if known else 0.0,
    )
