"""Rules of founding, which yield dates, each with a leader or without one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, field_validator

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.society.formation.leaders import Anybody, Leaders
from virsci_society.society.kernel.durations import Days, to_ticks
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.authorships import Authorships
from virsci_society.society.literature.papers import DAYS_PER_YEAR

COUNTED_YEARS = 4
"""The last years before day 0 on whose papers ``teams_per_year: counted`` counts."""


class Founding(Part):
    """A rule of founding. Subclass it and write ``foundings``.

    Every founding draws from its own random stream (rule 9). With ``per_scientist``, each newcomer
    adds the foundings of a society of one person, and the leader of each founding is drawn among
    all who are in the society.

    Example:
        >>> class Monthly(vs.Founding):
        ...     def foundings(self, scientists, streams):
        ...         for month in range(12):
        ...             yield month * 30.0, month % scientists
        >>> list(Monthly(max_teams=2).foundings(5, None))[5:7]
        [(150.0, 0), (180.0, 1)]
    """

    per_scientist: ClassVar[bool] = False
    """Whether the number of foundings is in proportion to the number of scientists."""
    max_teams: int = Field(default=3, ge=1, le=10_000)
    """Teams per scientist at any time, as leader or member. Unit: teams."""
    leaders: Leaders | None = None
    """Who leads, among those below ``max_teams``; null: anybody, and no team if that person is at
    the limit. Source: VirSci, section 3.2."""

    def foundings(self, scientists: int, streams: Streams) -> Iterator[tuple[float, int | None]]:
        """Draw the foundings of a society, in order of date.

        Args:
            scientists: how many people the rule begins with; rows are 0 to this number - 1.
            streams: the random streams of this rule.

        Yields:
            A date in days since the rule began, never decreasing, and the row of the scientist
            who wants to lead. None, or any row where ``leaders`` is given: the leader is drawn by
            ``leaders`` on the date, or uniformly where there is no such rule.
        """
        raise NotImplementedError

    def counted_on(self, past: Callable[[], Authorships]) -> Self:
        """This rule with numbers counted on the papers of the population before day 0."""
        return self


class Poisson(Founding):
    """Every scientist founds teams at the same constant rate.

    With ``leaders`` the society founds as many teams, and the rates of its members are in
    proportion to the weights of that rule.
    """

    per_scientist: ClassVar[bool] = True
    teams_per_year: float = Field(default=1.5, gt=0, le=10_000)
    """Founding rate. Unit: teams per scientist and year."""

    def foundings(self, scientists: int, streams: Streams) -> Iterator[tuple[float, int]]:
        """Foundings without end, in order of date."""
        mean_gap = DAYS_PER_YEAR / (self.teams_per_year * scientists)
        date = 0.0
        for ordinal in count():
            rng = streams.stream("founding", ordinal)
            # On the grid of ticks, where sums of dates are exact (rule 11).
            date += to_ticks(rng.exponential(mean_gap))
            yield date, int(rng.integers(scientists))


class Yearly(Founding):
    """A founding rate for the whole society, with exponential growth."""

    teams_per_year: Annotated[float, Field(gt=0, le=10_000_000)] | Literal["counted"] = "counted"
    """Founding rate on day 0; ``counted``: from the population's papers of the last four years.
    Unit: teams per year."""
    growth: float = Field(default=0.0, ge=-5, le=5)
    """Yearly change of the log rate. Unit: 1 / year."""
    leaders: Leaders = Field(default_factory=Anybody)
    """Who leads, among those below ``max_teams``."""

    def foundings(self, scientists: int, streams: Streams) -> Iterator[tuple[float, None]]:
        """Foundings in order of date; an end where the rate falls so fast that no more come."""
        if self.teams_per_year == "counted":
            raise InputError("founding.teams_per_year: counted needs past papers; give a number")
        passed = 0.0
        for ordinal in count():
            # Time rescaling: the cumulative rate at the foundings is a unit Poisson process.
            passed += streams.stream("founding", ordinal).exponential() / self.teams_per_year
            # ``passed`` is the integral of exp(growth x years) up to the date.
            inside = 1 + self.growth * passed
            # The rate falls so fast that its integral never reaches this founding.
            if inside <= 0:
                return
            years = math.log(inside) / self.growth if self.growth else passed
            yield to_ticks(years * DAYS_PER_YEAR), None

    def counted_on(self, past: Callable[[], Authorships]) -> Self:
        """This rule with the number of teams a year that is counted on past papers."""
        if self.teams_per_year != "counted":
            return self
        years = counted_years(past())
        papers = len(past().between(-years * DAYS_PER_YEAR, 0.0))
        if not papers:
            raise InputError(
                "founding.teams_per_year: counted, but nobody in the population has a paper in the "
                f"last {COUNTED_YEARS} years before day 0; give a number"
            )
        # The integral of exp(growth x t) over these years, so that a trend is not counted twice.
        span = -math.expm1(-self.growth * years) / self.growth if self.growth else years
        return self.model_copy(update={"teams_per_year": float(max(1, round(papers / span)))})


def counted_years(past: Authorships) -> int:
    """Years before day 0 that are counted: four, or fewer if the past is shorter."""
    first = float(past.dates[0]) if len(past) else 0.0
    return min(COUNTED_YEARS, max(1, math.ceil(-first / DAYS_PER_YEAR)))


class Once(Founding):
    """A fixed number of teams, at regular intervals from day 0, with random leaders.

    Leaders are drawn without replacement until everybody has led, then anew; where people come
    and go, among those who are here when the rule begins.
    """

    count: int = Field(default=1, ge=1, le=1_000_000)
    """Number of teams. Unit: teams. Source: VirSci: one team."""
    every: Days = 0.0
    """Time between two foundings."""

    def foundings(self, scientists: int, streams: Streams) -> Iterator[tuple[float, int]]:
        """``count`` foundings, in order of date."""
        for ordinal in range(self.count):
            round_, turn = divmod(ordinal, scientists)
            if turn == 0:
                # A stream per round: more teams change no earlier leader (rule 9).
                order = streams.stream("leaders", round_).permutation(scientists)
            yield to_ticks(ordinal * self.every), int(order[turn])


class CallsForProposals(Founding):
    """Calls for proposals: a number of teams is founded on each date."""

    dates: tuple[Days, ...] = Field(default=(0.0,), min_length=1)
    """Dates of the calls."""
    every: Days | None = Field(default=None, gt=0)
    """Interval of further calls after the last date; null: none."""
    teams_per_call: int = Field(ge=1, le=1_000_000)
    """Teams founded on each date. Unit: teams."""
    leaders: Leaders = Field(default_factory=Anybody)
    """Who leads, among those below ``max_teams``."""

    @field_validator("dates")
    @classmethod
    def _in_order(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if any(later <= earlier for earlier, later in pairwise(value)):
            raise ValueError("dates are listed in order, each once")
        return value

    def foundings(self, scientists: int, streams: Streams) -> Iterator[tuple[float, None]]:
        """The date of every call, once per team that it founds, without leaders."""
        for call in count():
            if call < len(self.dates):
                date = self.dates[call]
            elif self.every is not None:
                # From the last date on, and not gap by gap: no rounding adds up.
                date = self.dates[-1] + to_ticks((call - len(self.dates) + 1) * self.every)
            else:
                return
            # Each leads once per call, so there are no more teams than people.
            for _ in range(min(self.teams_per_call, scientists)):
                yield date, None
