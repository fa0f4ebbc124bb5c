"""A growth model of careers, teams and citations in a research community, without any words.

Newcomers enter with every paper; most write once, a few stay for decades. Seats in a team go to
earlier partners, to partners of partners, or to whoever has written much in the field. Citations
follow citations, recency and the topic.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

ONE_PAPER = 0.5
CAREER_YEARS = 7.0
MEAN_TEAM = 3.3
SEAT_PARTNER = 0.78
SEAT_TRIAD = 0.10
OTHER_FIELD = 0.12
TRIES = 6
MEAN_REFERENCES = 5.0
MEMORY_YEARS = 5.0
CITE_COPY = 0.45
CITE_RECENT = 0.35
CITE_OWN = 0.10


class CommunityMember(NamedTuple):
    """One member of the community: its field, its first year and the last year of its career."""

    field: int
    entry: int
    leaves: int


class InventedPaper(NamedTuple):
    """One paper without words: its year, field, authors and references (by number)."""

    year: int
    field: int
    authors: tuple[int, ...]
    references: tuple[int, ...]


@dataclass
class CommunityModel:
    """The community, which grows paper by paper in order of years."""

    rng: np.random.Generator
    field_weights: np.ndarray
    newcomers: float
    people: list[CommunityMember] = field(default_factory=list)
    works: list[InventedPaper] = field(default_factory=list)

    def __post_init__(self) -> None:
        count = len(self.field_weights)
        self._field_ends = np.cumsum(self.field_weights / self.field_weights.sum())
        self._seats: list[list[int]] = [[] for _ in range(count)]
        self._partners: dict[int, list[int]] = {}
        self._written: dict[int, list[int]] = {}
        self._of_field: list[list[int]] = [[] for _ in range(count)]
        self._cited: list[list[int]] = [[] for _ in range(count)]

    def write_year(self, year: int, papers: int) -> None:
        """Add a year's papers; they cite earlier years only."""
        fresh: list[InventedPaper] = []
        for _ in range(papers):
            topic = int(np.searchsorted(self._field_ends, self.rng.random(), side="right"))
            topic = min(topic, len(self._seats) - 1)
            authors = self._team(topic, year)
            fresh.append(
                InventedPaper(year, topic, authors, self._references(topic, authors, year))
            )
        # Only now, because papers of one year do not cite each other.
        for work in fresh:
            number = len(self.works)
            self.works.append(work)
            self._of_field[work.field].append(number)
            for author in work.authors:
                self._written.setdefault(author, []).append(number)
            for cited in work.references:
                self._cited[self.works[cited].field].append(cited)

    def _team(self, topic: int, year: int) -> tuple[int, ...]:
        size = 1 + int(self.rng.poisson(MEAN_TEAM - 1))
        team = [self._newcomer(topic, year) if self._is_new() else self._veteran(topic, year)]
        while len(team) < size:
            somebody = None if self._is_new() else self._known_to(team, topic, year)
            team.append(self._newcomer(topic, year) if somebody is None else somebody)
        for member in team:
            self._seats[topic].append(member)
            self._partners.setdefault(member, []).extend(m for m in team if m != member)
        return tuple(team)

    def _is_new(self) -> bool:
        return bool(self.rng.random() < self.newcomers)

    def _newcomer(self, topic: int, year: int) -> int:
        stays = self.rng.random() >= ONE_PAPER
        years = int(self.rng.exponential(CAREER_YEARS)) + 1 if stays else 0
        self.people.append(CommunityMember(topic, year, year + years))
        return len(self.people) - 1

    def _veteran(self, topic: int, year: int) -> int:
        for _ in range(TRIES):
            if self._seats[topic]:
                person = self._one_of(self._seats[topic])
                if self.people[person].leaves >= year:
                    return person
        return self._newcomer(topic, year)

    def _known_to(self, team: list[int], topic: int, year: int) -> int | None:
        for _ in range(TRIES):
            person = self._candidate(team, topic)
            if person is not None and person not in team and self.people[person].leaves >= year:
                return person
        return None

    def _candidate(self, team: list[int], topic: int) -> int | None:
        draw = self.rng.random()
        member = self._one_of(team)
        partners = self._partners.get(member)
        if partners and draw < SEAT_PARTNER:
            return self._one_of(partners)
        if partners and draw < SEAT_PARTNER + SEAT_TRIAD:
            return self._one_of(self._partners[self._one_of(partners)])
        if self.rng.random() < OTHER_FIELD:
            topic = int(self.rng.random() * len(self._seats))
        return self._one_of(self._seats[topic]) if self._seats[topic] else None

    def _references(self, topic: int, authors: tuple[int, ...], year: int) -> tuple[int, ...]:
        wanted = int(self.rng.geometric(1.0 / MEAN_REFERENCES))
        drawn = (self._reference(topic, authors, year) for _ in range(wanted))
        return tuple(dict.fromkeys(number for number in drawn if number is not None))

    def _reference(self, topic: int, authors: tuple[int, ...], year: int) -> int | None:
        draw = self.rng.random()
        if draw < CITE_COPY:
            pool = self._cited[topic]
        elif draw < CITE_COPY + CITE_RECENT:
            pool = self._of_field[topic]
        elif draw < CITE_COPY + CITE_RECENT + CITE_OWN:
            pool = self._written.get(self._one_of(authors), [])
        else:
            pool = self._of_field[int(self.rng.random() * len(self._of_field))]
        for _ in range(TRIES):
            if pool:
                number = self._one_of(pool)
                age = year - self.works[number].year
                if self.rng.random() < np.exp(-age / MEMORY_YEARS):
                    return number
        return None

    def _one_of(self, pool: list[int] | tuple[int, ...]) -> int:
        return pool[int(self.rng.random() * len(pool))]
