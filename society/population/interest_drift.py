"""Interests by date, and the rules of drift by which they follow what a scientist writes."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import itemgetter

from numpy.random import Generator
from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.society.kernel.durations import Days

WeightedInterests = tuple[tuple[str, float], ...]
"""Interests with their weights, the main topic first."""


class InterestHistory:
    """Dated lists of interests of those whose interests have changed, by row (rule 16)."""

    def __init__(self) -> None:
        self._held: dict[int, list[tuple[float, WeightedInterests]]] = {}

    def record(self, row: int, date: float, interests: WeightedInterests) -> None:
        """Add all interests, the main one first, that a scientist (row) has just after a date."""
        self._held.setdefault(row, []).append((date, interests))

    def latest(self, row: int) -> tuple[float, WeightedInterests] | None:
        """The last interests of a scientist, with their date; None: those it came with."""
        held = self._held.get(row)
        return held[-1] if held else None

    def before(self, row: int, date: float) -> tuple[str, ...] | None:
        """The interests before a date; None: those that the scientist came with."""
        held = self._held.get(row, [])
        position = bisect_left(held, date, key=itemgetter(0))
        return tuple(name for name, _ in held[position - 1][1]) if position else None

    def changed_rows(self) -> Iterable[int]:
        """Rows of the scientists whose interests have changed since they came."""
        return tuple(self._held)


class Drift(Part):
    """A rule by which a paper changes what its authors are interested in.

    Subclass it and write ``initial_weights`` and ``after_paper``.
    """

    def initial_weights(self, interests: Sequence[str]) -> WeightedInterests:
        """Give weights to the interests that a scientist comes with."""
        raise NotImplementedError

    def after_paper(
        self, held: WeightedInterests, days: float, keywords: Sequence[str], rng: Generator
    ) -> WeightedInterests:
        """Update an author's interests by a paper, ``days`` (>= 0) after they were computed."""
        raise NotImplementedError


class Writing(Drift):
    """Interests are weighted by how often and how recently the scientist wrote about them.

    Every keyword of a paper weighs 1 when it appears, and exp(-t / ``memory``) after t days; an
    interest weighs as much as all the papers on it together, and a list holds the heaviest.
    Heterogeneity and recency are two of the three features that Jia, Wang and Szymanski, Nature
    Human Behaviour 1:0078 (2017), found to govern the choice of subjects; the form is assumed.
    """

    memory: Days = Field(default=1825.0, gt=0)
    """Time after which a paper's weight has fallen to 1/e."""
    start: float = Field(default=3.0, gt=0, le=10_000)
    """Initial weight of the first interest in papers; the r-th has 1/r of it. Unit: papers."""
    entering: float = Field(default=0.5, ge=0, le=1)
    """Probability that a new keyword of an own paper becomes an interest. Unit: probability."""
    most: int = Field(default=10, ge=1, le=100)
    """Interests per scientist. Unit: interests. Source: VirSci profiles: 10."""

    def initial_weights(self, interests: Sequence[str]) -> WeightedInterests:
        """Weights in proportion to the harmonic series: ``start`` / rank."""
        return tuple((name, self.start / rank) for rank, name in enumerate(interests, start=1))

    def after_paper(
        self, held: WeightedInterests, days: float, keywords: Sequence[str], rng: Generator
    ) -> WeightedInterests:
        """The ``most`` heaviest interests; of equal weights the older one comes first."""
        fading = math.exp(-days / self.memory)
        weights = {name: weight * fading for name, weight in held}
        for keyword in dict.fromkeys(keywords):
            if keyword in weights:
                weights[keyword] += 1.0
            elif rng.random() < self.entering:
                weights[keyword] = 1.0
        # The sort is stable, so ties stay in the order of the old list.
        ranked = sorted(weights.items(), key=lambda interest: -interest[1])
        return tuple(ranked[: self.most])
