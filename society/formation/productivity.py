"""Productivities, that is papers that fade with age and constant factors of one's own."""

from __future__ import annotations

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.society.formation.world_view import PapersView
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.population.paper_history import FadingPapers


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
