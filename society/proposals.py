"""Calls: teams that are founded because somebody has called for proposals."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, pairwise

from pydantic import Field, field_validator

from society.durations import Days, to_ticks
from society.founding import Founding
from society.leaders import Anybody, Leaders
from society.streams import Streams


class Calls(Founding):
    """Calls for proposals at stated dates: so many teams are founded on each of them.

    Leaders are drawn by their rule among those below their limit of teams, each once per call.
    """

    dates: tuple[Days, ...] = Field(default=(0.0,), min_length=1)
    """Dates of the calls, in order."""
    every: Days | None = Field(default=None, gt=0)
    """Further calls so often after the last date; null: none."""
    teams_per_call: int = Field(default=10, ge=1)
    """Teams founded on each date."""
    leaders: Leaders = Field(default_factory=Anybody)
    """Who leads, by what holds on the date of the call."""

    @field_validator("dates")
    @classmethod
    def _in_order(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if any(later <= earlier for earlier, later in pairwise(value)):
            raise ValueError("dates are listed in order, each once")
        return value

    def teams(self, scientists: int, streams: Streams) -> Iterator[tuple[float, None]]:
        """Every call, as many times as it founds teams."""
        for date in self._calls():
            for _ in range(min(self.teams_per_call, scientists)):
                yield date, None

    def _calls(self) -> Iterator[float]:
        yield from self.dates
        if self.every is not None:
            for number in count(1):
                yield self.dates[-1] + to_ticks(number * self.every)
