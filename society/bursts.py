"""Bursts: a team that is founded makes others want to found one too."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from society.durations import Days, to_ticks
from society.founding import Founding
from society.literature.paper import DAYS_PER_YEAR
from society.streams import Streams


class Bursts(Founding):
    """A self-exciting (Hawkes 1971) process: foundings come in bursts.

    The rate of the society is mu plus offspring / memory x exp(-age / memory) for every founding
    of that age. It begins without a past. Gaps are drawn exactly after Dassios and Zhao (2013),
    each from a stream named by its ordinal, in constant time; leaders are uniform.
    """

    per_scientist: ClassVar[bool] = True

    teams_per_year: float = Field(default=1.5, gt=0)
    """Foundings per scientist and year in the long run, bursts included."""
    offspring: float = Field(default=0.5, ge=0, lt=1)
    """Further foundings that one founding brings about directly, on average."""
    memory: Days = Field(default=30.0, gt=0)
    """Mean time from a founding to those that it brings about."""

    def teams(self, scientists: int, streams: Streams) -> Iterator[tuple[float, int]]:
        """Foundings without end, in order of date."""
        mu = self.teams_per_year * scientists / DAYS_PER_YEAR * (1 - self.offspring)
        date, excess, ordinal = 0.0, 0.0, 0
        while True:
            rng = streams.stream("founding", ordinal)
            gap = to_ticks(min(rng.exponential(1 / mu), self._incited(excess, rng.random())))
            date += gap
            excess = excess * math.exp(-gap / self.memory) + self.offspring / self.memory
            yield date, int(rng.integers(scientists))
            ordinal += 1

    def _incited(self, excess: float, chance: float) -> float:
        """The gap to the first founding that is owed to earlier ones; infinite if none is."""
        if excess == 0:
            return math.inf
        # log1p of -chance, since chance can be 0 but not 1.
        left = 1 + math.log1p(-chance) / (excess * self.memory)
        return -self.memory * math.log(left) if left > 0 else math.inf
