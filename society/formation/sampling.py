"""Draws of one person by rejection, which take no time in proportion to the population."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.random import Generator

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.society.formation.world_view import ExcludedRows, PapersView, WorldView
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.population.event_counts import FadingPapers

if TYPE_CHECKING:
    from virsci_society.society.population.event_counts import DatedCounts

MAX_PROPOSALS = 512
"""Proposals before the weights of all who are left are computed."""


def sample_by_rejection(
    propose: Callable[[], int | None],
    weights: Callable[[IntArray], FloatArray],
    people: int,
    excluded: AbstractSet[int],
    rng: Generator,
) -> int | None:
    """Draw one person who is not excluded, in proportion to weights, by rejection."""
    # Otherwise nobody is left, and no proposal could be accepted.
    if len(excluded) < people:
        for _ in range(MAX_PROPOSALS):
            row = propose()
            if row is not None and row not in excluded:
                return row
    return sample_exactly(weights, people, excluded, rng)


def sample_exactly(
    weights: Callable[[IntArray], FloatArray],
    people: int,
    excluded: AbstractSet[int],
    rng: Generator,
) -> int | None:
    """Draw one person from the weights of all who are left; see ``sample_by_rejection``."""
    left = np.ones(people, dtype=bool)
    left[sorted(excluded)] = False
    rows = np.flatnonzero(left)
    mass = weights(rows)
    total = float(mass.sum())
    return int(rng.choice(rows, p=mass / total)) if total > 0 else None


def sample_uniformly(people: int, excluded: AbstractSet[int], rng: Generator) -> int | None:
    """Draw one of ``people`` rows that is not excluded, uniformly; None if all are excluded."""

    def propose() -> int:
        return int(rng.integers(people))

    return sample_by_rejection(propose, lambda rows: np.ones(len(rows)), people, excluded, rng)


def sample_present(world: WorldView, without: AbstractSet[int], rng: Generator) -> int | None:
    """Draw one present person who came before this date, uniformly; None if there is none."""
    people = world.population
    excluded = ExcludedRows(people.departed.keys(), people.just_arrived() | without)
    return sample_uniformly(len(people), excluded, rng)


def fading_papers(
    world: PapersView,
    memory: float | None,
    exponent: float,
    shape: float | None = None,
    coauthored: float = 1.0,
    limit: float | None = None,
) -> FadingPapers:
    """Everybody's fading papers as of now, made at the first use and kept with the history.

    ``memory`` (days; None: no fading), ``exponent`` and ``limit`` are those of ``FadingPapers``;
    ``shape`` is that of gamma distributed productivities (None: all are 1).
    """
    # The leader's position among the authors matters only if leading counts for more.
    position = -1 if coauthored != 1 and world.author_order == "leader_last" else 0
    kept, key = world.history.fading, (memory, exponent, shape, coauthored, position, limit)
    if key not in kept:
        # From streams by name: rules of another memory find the same productivity of a person.
        factors = None if shape is None else partial(_productivities, world.streams, shape)
        kept[key] = FadingPapers(
            world.history,
            memory,
            exponent,
            factors,
            coauthored=coauthored,
            leader=position,
            limit=limit,
        )
    return kept[key]


def _productivities(streams: Streams, shape: float, first: int, last: int) -> FloatArray:
    """Gamma distributed factors with mean 1 of the people with rows from first to before last."""
    # Those of day 0 share a stream; each newcomer has its own (rule 9).
    if first == 0:
        return streams.stream("productivity").gamma(shape, 1 / shape, last)
    newcomers = (streams.stream("productivity", row) for row in range(first, last))
    return np.array([stream.gamma(shape, 1 / shape) for stream in newcomers])


CountedBy = Literal["coauthors", "papers", "citations"]
"""Distinct co-authors, papers, or citations received; as of the date."""


def dated_counts_of(world: WorldView, by: CountedBy) -> DatedCounts:
    """The counts of a world for a name of ``CountedBy``."""
    if by == "coauthors":
        return world.network.distinct_coauthors
    return world.population.papers if by == "papers" else world.population.citations


def count_weights(
    world: WorldView,
    by: CountedBy,
    floor: float,
    rows: Sequence[int] | IntArray,
    memory: float | None = None,
) -> FloatArray:
    """The counts of some people before now, plus a floor; papers fade with ``memory`` (days)."""
    if memory is not None:
        papers = fading_papers(world, memory, 1.0).weights(np.asarray(rows, dtype=np.int64))
        return papers * math.exp(-world.day / memory) + floor
    counts = dated_counts_of(world, by).counts(len(world.population))
    return counts[np.asarray(rows, dtype=np.int64)].astype(float) + floor


def sample_by_count(
    world: WorldView,
    by: CountedBy,
    floor: float,
    excluded: AbstractSet[int],
    rng: Generator,
    memory: float | None = None,
) -> int | None:
    """Draw one person by its ``count_weights``, as a uniform event or a uniform person."""
    people = len(world.population)
    counts, fading = dated_counts_of(world, by), None
    events = float(counts.total()) if memory is None else 0.0
    if memory is not None:
        fading = fading_papers(world, memory, 1.0)
        # The total is as of day 0, when all weights have faded less by the same factor.
        events = fading.total * math.exp(-world.day / memory)
    mass = events + floor * people

    def propose() -> int:
        at = rng.random() * mass
        if at >= events:
            return int(rng.integers(people))
        return counts.person_at(int(at)) if fading is None else fading.person_at(at / events)

    def weights(rows: IntArray) -> FloatArray:
        return count_weights(world, by, floor, rows, memory)

    return sample_by_rejection(propose, weights, people, excluded, rng) if mass else None


class Incumbents:
    """Who has a paper that is not too old (incumbents), and who never had one (newcomers)."""

    def __init__(self, world: WorldView, inactivity: float | None, ever: bool) -> None:
        self._papers, self._people = world.population.papers, len(world.population)
        self._window, self._since = self._papers.window(inactivity), self._papers.window()
        self._ever = ever
        self._recent = ever and (inactivity is None or world.day <= inactivity)

    def is_incumbent(self, row: int) -> bool:
        """Whether a scientist is an incumbent."""
        old = self._recent and self._papers.count_before_day_0(row) > 0
        return old or self._papers.has_event_in(row, self._window)

    def is_newcomer(self, row: int) -> bool:
        """Whether a scientist has never had a paper that counts."""
        old = self._ever and self._papers.count_before_day_0(row) > 0
        return not old and not self._papers.has_event_in(row, self._since)

    def sample_incumbent(self, excluded: AbstractSet[int], rng: Generator) -> int | None:
        """Draw one incumbent who is not excluded, uniformly; None if all are."""
        old = self._papers.rows_before_day_0 if self._recent else ()
        start, end = self._window
        if end - start + len(old) == 0:
            return None

        def propose() -> int | None:
            index = int(rng.integers(end - start + len(old)))
            if index < len(old):
                return int(old[index])
            row, first = self._papers.event_at(start + index - len(old), self._window)
            # A person is proposed for its first event only, and not at all for an event of the
            # window if it is among those of before day 0 already: so each has one chance.
            again = self._recent and self._papers.count_before_day_0(row) > 0
            return row if first and not again else None

        weights = self._indicator(self.is_incumbent)
        return sample_by_rejection(propose, weights, self._people, excluded, rng)

    def sample_newcomer(self, excluded: AbstractSet[int], rng: Generator) -> int | None:
        """Draw one newcomer who is not excluded, uniformly; None if all are."""

        def propose() -> int | None:
            row = int(rng.integers(self._people))
            return row if self.is_newcomer(row) else None

        weights = self._indicator(self.is_newcomer)
        return sample_by_rejection(propose, weights, self._people, excluded, rng)

    def _indicator(self, condition: Callable[[int], bool]) -> Callable[[IntArray], FloatArray]:
        """Weights that are 1 where a condition on the row is true, else 0."""
        return lambda rows: np.array([float(condition(row)) for row in rows.tolist()])
