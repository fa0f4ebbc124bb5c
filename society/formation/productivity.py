"""Productivities, constant factors of people's chances to lead a team."""

from __future__ import annotations

import numpy as np

from agents.arrays import FloatArray
from society.kernel.streams import Streams


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
            return self._draw(self._streams.stream("productivity"), last)
        streams = (self._streams.stream("productivity", row) for row in range(first, last))
        return np.concatenate([self._draw(stream, 1) for stream in streams])

    def _draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        return rng.gamma(self._shape, 1 / self._shape, count)
