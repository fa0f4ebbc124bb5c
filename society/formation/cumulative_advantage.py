"""Cumulative advantage, the draw of a person in proportion to what it has plus a floor.

The weights are distinct co-authors, papers or citations before now (Price, Journal of the
American Society for Information Science 27:292, 1976; Merton, Science 159:56, 1968). Leaders,
partners and reviewers can be drawn so; papers can fade with age. The counts are dated events, so a
draw is the uniform draw of one event and takes no time in proportion to the population.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Literal

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.society.formation.rejection_sampling import sample_by_rejection
from virsci_society.society.formation.world_view import PapersView
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.population.paper_history import FadingPapers

if TYPE_CHECKING:
    from virsci_society.society.formation.world_view import WorldView
    from virsci_society.society.population.event_counts import DatedCounts


def fading_papers(
    world: PapersView,
    memory: float | None,
    exponent: float,
    shape: float | None = None,
    coauthored: float = 1.0,
) -> FadingPapers:
    """Everybody's fading papers as of now, by which people are drawn.

    They are made at the first use and kept with the history of the papers.

    Args:
        world: as of now.
        memory: time in days after which the weight of a paper has fallen to 1/e; None: it stays.
        exponent: power of the fading number of papers.
        shape: of the gamma distribution of the people's constant factors; None: all are 1.
        coauthored: weight of a paper for its authors but the leader, 0..1.
    """
    place = -1 if coauthored != 1 and world.author_order == "leader_last" else 0
    kept, key = world.history.fading, (memory, exponent, shape, coauthored, place)
    if key not in kept:
        factors = None if shape is None else Productivities(world.streams, shape)
        kept[key] = FadingPapers(
            world.history, memory, exponent, factors, coauthored=coauthored, leader=place
        )
    return kept[key]


class Productivities:
    """Independent gamma distributed factors with mean 1, one per person.

    Args:
        streams: the random streams of the run.
        shape: of the gamma distribution, > 0; the variance of the factors is 1 / shape.
    """

    def __init__(self, streams: Streams, shape: float) -> None:
        self._streams, self._shape = streams, shape

    def __call__(self, first: int, last: int) -> FloatArray:
        """The factors of the people with rows from ``first`` to before ``last``.

        Those of day 0 (``first`` is 0) share a stream; each newcomer has its own (rule 9).
        """
        if first == 0:
            rng = self._streams.stream("productivity")
            return rng.gamma(self._shape, 1 / self._shape, last)
        streams = (self._streams.stream("productivity", row) for row in range(first, last))
        return np.array([stream.gamma(self._shape, 1 / self._shape) for stream in streams])


CountedBy = Literal["coauthors", "papers", "citations"]
"""Distinct co-authors, papers, or citations received; as of the date."""


def dated_counts_of(world: WorldView, by: CountedBy) -> DatedCounts:
    """The counts of a world that a name in ``CountedBy`` stands for."""
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
    """The weights of some people: their counts before now, plus a floor.

    Args:
        world: as of now.
        by: what is counted.
        floor: added to every count, >= 0, so that people without any can be drawn.
        rows: of the people.
        memory: time in days after which the weight of a paper has fallen to 1/e, for ``papers``;
            None: it stays.

    Returns:
        Unnormalised probabilities, an array of the length of ``rows``.
    """
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
    rng: np.random.Generator,
    memory: float | None = None,
) -> int | None:
    """Draw one person in proportion to its count before now plus a floor.

    The distribution is a mixture: a uniform event with the share of the counts in all weights,
    else a uniform person.

    Args:
        world: as of now.
        by: what is counted.
        floor: added to every count, >= 0.
        excluded: rows that may not be drawn.
        rng: the random stream of this draw.
        memory: time in days after which the weight of a paper has fallen to 1/e, for ``papers``;
            None: it stays.

    Returns:
        A row, or None where nobody who is left has a weight above 0.
    """
    people = len(world.population)
    counts, fading = dated_counts_of(world, by), None
    events = float(counts.total()) if memory is None else 0.0
    if memory is not None:
        fading = fading_papers(world, memory, 1.0)
        # The total is told as of day 0, when all weights have faded less by the same factor.
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
