"""Founding: when teams start, and who leads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pydantic import Field

from agents.part import Part
from society.durations import Days, to_ticks
from society.leaders import Leaders
from society.literature.paper import DAYS_PER_YEAR
from society.streams import Streams


class Founding(Part):
    """Subclass it and write ``teams``; every founding draws from its own stream.

    Where ``per_scientist`` holds, each newcomer brings foundings of its own, those of a society of
    one, and whose turn it is to lead is drawn among all who are here.
    """

    per_scientist: ClassVar[bool] = False
    """Are there as many foundings as there are scientists, or a stated number?"""
    max_teams: int = Field(default=3, ge=1)
    """A scientist is in at most this many teams at once, as leader or member."""
    leaders: Leaders | None = None
    """Who leads, by what holds on the date of founding, among those below their limit of teams;
    null: whoever the rule itself draws, and no team where that is somebody at the limit."""

    def teams(self, scientists: int, streams: Streams) -> Iterator[tuple[float, int | None]]:
        """Dates (days, never decreasing) and the rows of the scientists who want to lead.

        A row of None, or whatever the rows are where ``leaders`` is given: by that rule, or by
        anybody where there is none.
        """
        raise NotImplementedError

    def enough(self, founded: int) -> bool:
        """Is that as many foundings as there may be?"""
        return False


class Poisson(Founding):
    """Every scientist founds teams at the same rate, independently of everything else.

    The superposition of the scientists' Poisson processes is drawn: exponential gaps, then a
    uniform leader, each from a stream named by its ordinal. With ``leaders`` the society founds
    as many teams, and the rates of its members are in proportion to the weights of that rule.
    """

    per_scientist: ClassVar[bool] = True
    teams_per_year: float = Field(default=1.5, gt=0)
    """Foundings per scientist and year."""
    most: int | None = Field(default=None, ge=1)
    """No more teams than this are founded; null: no limit."""

    def teams(self, scientists: int, streams: Streams) -> Iterator[tuple[float, int]]:
        """Foundings without end, in order of date."""
        mean_gap = DAYS_PER_YEAR / (self.teams_per_year * scientists)
        date, ordinal = 0.0, 0
        while self.most is None or ordinal < self.most:
            rng = streams.stream("founding", ordinal)
            date += to_ticks(rng.exponential(mean_gap))
            yield date, int(rng.integers(scientists))
            ordinal += 1

    def enough(self, founded: int) -> bool:
        """At ``most`` so many, those of newcomers included."""
        return self.most is not None and founded >= self.most


class Once(Founding):
    """A stated number of teams, founded ``every`` so often from day 0, leaders at random.

    With ``count: 1`` this is single-team VirSci: a leader sampled uniformly from S. Leaders
    are drawn without replacement until everybody has led, then anew; where people come and go,
    among those who are here when the rule begins.
    """

    count: int = Field(default=1, ge=1)
    """Number of teams."""
    every: Days = 0.0
    """Time between two foundings."""

    def teams(self, scientists: int, streams: Streams) -> Iterator[tuple[float, int]]:
        """``count`` foundings."""
        for ordinal in range(self.count):
            round_, place = divmod(ordinal, scientists)
            if place == 0:
                order = streams.stream("leaders", round_).permutation(scientists)
            yield to_ticks(ordinal * self.every), int(order[place])
