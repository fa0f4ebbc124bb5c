"""Plan: how an ecosystem is to be built, and who is told how it goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from society.ecosystem.filters import PaperFilters
from society.ecosystem.population import PeopleFilters


class Listener(Protocol):
    """Who is told how a build goes."""

    def begin(self, phase: str) -> None:
        """A new phase has begun."""

    def count(self, done: int) -> None:
        """So many records of it are done."""


class Quiet:
    """Tells nobody."""

    def begin(self, phase: str) -> None:
        """Nothing."""

    def count(self, done: int) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Plan:
    """How an ecosystem is to be built.

    Attributes:
        boundary: the year in which the society starts.
        papers: filters on papers.
        people: filters on people.
        scientists: source ids of the only people who may be scientists; None for anybody.
        embedding: what makes the vectors; terms are told by an LSA in any case.
        seed: of the masks and the fit.
        hosting: where a hosted embedding is asked: api_base, key (the name of a variable).
    """

    boundary: int
    papers: PaperFilters = field(default_factory=PaperFilters)
    people: PeopleFilters = field(default_factory=PeopleFilters)
    scientists: Sequence[str] | None = None
    embedding: str = "lsa"
    seed: int = 0
    hosting: Mapping[str, str] = field(default_factory=dict)
