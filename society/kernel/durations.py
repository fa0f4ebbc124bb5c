"""Simulated time, with durations of acts, the grid of dates and the type of processes."""

from __future__ import annotations

import math
import re
from collections.abc import Generator
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer

from virsci_society.agents.config import Part

TICK = 2.0**-20
"""Days; dates are multiples of it, so that sums of dates are exact (rule 11)."""
_DAYS = {"s": 1 / 86400, "m": 1 / 1440, "h": 1 / 24, "d": 1.0, "w": 7.0, "mo": 365 / 12, "y": 365.0}
_WRITTEN = re.compile(
    r"\s*(\d+(?:\.\d+)?)\s*"
    r"(?:(s|m|h|d|w|mo|y)|(second|minute|hour|day|week|month|year)s?)\s*"
)


def to_ticks(days: float) -> float:
    """Round to the grid on which sums of dates are exact."""
    return round(days / TICK) * TICK


def parse_days(value: Any) -> float:
    """Read a duration: ``"3d"``, ``"10m"`` ... or a number of days."""
    # To Python True is a number, but nobody writes it for a day.
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        # Compared as it is: a number of 400 digits is no float.
        days = float(value) if -1e9 < value < 1e9 else math.inf
    else:
        match = _WRITTEN.fullmatch(str(value))
        if match is None:
            raise ValueError(f"{value!r} is not a duration; write 10m, 2h, 3d, 1w, 18mo or 2y")
        unit = match[2] or (match[3][:2] if match[3] == "month" else match[3][0])
        days = float(match[1]) * _DAYS[unit]
    # Written as a negation: every comparison with NaN is false, and NaN must be refused.
    if not 0 <= days <= 1e6 - TICK:
        raise ValueError(f"{value!r} is outside 0 to 1,000,000 days")
    return to_ticks(days)


def write_days(days: float) -> str:
    """Write a duration as a scenario file shows it; ``parse_days`` reads it back exactly."""
    for unit in ("y", "w", "d", "h", "m"):
        count = round(days / _DAYS[unit])
        if count and parse_days(f"{count}{unit}") == days:
            return f"{count}{unit}"
    # ``parse_days`` reads no exponent. Multiples of a tick need at most 20 decimals.
    return f"{days!r}d" if "e" not in repr(days) else f"{days:.20f}d"


Days = Annotated[
    float,
    BeforeValidator(parse_days),
    PlainSerializer(write_days, return_type=str),
    Field(json_schema_extra={"type": ["string", "number"]}),
]
"""A length of simulated time in days, written like ``3d``."""


class Duration(Part):
    """A distribution of lengths of time; subclass it and write ``sample``."""

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one length in days, >= 0."""
        raise NotImplementedError

    def draw(self, rng: np.random.Generator) -> float:
        """Draw one length and round it to the grid of ticks; below 0 counts as 0."""
        return to_ticks(max(0.0, self.sample(rng)))


class FixedDuration(Duration):
    """Always the same length."""

    length: Days
    """The length."""

    def sample(self, rng: np.random.Generator) -> float:
        """The length itself."""
        return self.length


class Gamma(Duration):
    """Gamma distributed around ``mean``; ``shape`` 1 is exponential, larger is narrower."""

    mean: Days
    """Mean length."""
    shape: float = Field(default=4.0, ge=0.001, le=1_000_000)
    """1 is exponential, larger is narrower."""

    def sample(self, rng: np.random.Generator) -> float:
        """One gamma draw."""
        return float(rng.gamma(self.shape, self.mean / self.shape))


class Lognormal(Duration):
    """Lognormal with the given median; ``sigma`` is the standard deviation of the log."""

    median: Days
    """Median length."""
    sigma: float = Field(default=0.5, ge=0, le=10)
    """Standard deviation of the logarithm. Unit: log days."""

    def sample(self, rng: np.random.Generator) -> float:
        """One lognormal draw."""
        return float(self.median * np.exp(self.sigma * rng.standard_normal()))


Factor = Annotated[float, Field(gt=0, le=10_000)]
"""What an effort is multiplied by."""
Role = Literal["leader", "member"]


class Times(Part):
    """Durations and delays in simulated time.

    The defaults are assumptions of this project. Each delay is realistic and also lets calls
    run in parallel: the clock waits for a reply only when its effect is due.

    Example:
        >>> times = vs.Times(deadline="6w", stage_effort={"abstract": {"leader": 3}})
        >>> times.deadline, times.meeting_notice
        (42.0, 7.0)
        >>> times.effort(2.0, "leader", "abstract"), times.effort(2.0, "leader", "topic")
        (9.0, 3.0)
    """

    utterance: Duration = Field(default_factory=lambda: Gamma(mean=parse_days("10m")))
    """One utterance, summary, decision or vote in a meeting (mean 10 minutes)."""
    homework: Duration | None = Field(default_factory=lambda: Gamma(mean=parse_days("2d")))
    """Work of one member between two meetings (mean 2 days); null: none. Unit: days of full
    attention."""
    leader_effort: Factor = 1.5
    """Homework of the leader, relative to ``homework``. Unit: factor."""
    member_effort: Factor = 1.0
    """Homework of the others, relative to ``homework``. Unit: factor."""
    stage_effort: dict[str, Factor | dict[Role, Factor]] = Field(default_factory=dict)
    """Further factors by stage: ``{abstract: 2}`` or ``{abstract: {leader: 3, member: 0.5}}``.
    Unit: factor."""
    switching: Days = 0.0
    """Time lost when changing between projects. Source: effect: Rubinstein, Meyer and Evans 2001;
    Leroy 2009."""
    meeting_notice: Days = 7.0
    """From calling a meeting to its date."""
    reply_window: Days = 14.0
    """From an invitation to its answer."""
    publication_delay: Days = 60.0
    """From the finished manuscript to the visible paper."""
    deadline: Days | None = None
    """Teams unfinished this long after founding are dissolved; null: never."""

    def effort(self, drawn: float, role: Role, stage: str) -> float:
        """Days of full attention for a piece of homework.

        Args:
            drawn: from ``homework``.
            role: role of the scientist who does it.
            stage: the stage whose meeting has left it.
        """
        factor = self.leader_effort if role == "leader" else self.member_effort
        more = self.stage_effort.get(stage, 1.0)
        # Rounded again: a tick times a factor is in general no multiple of a tick (rule 11).
        return to_ticks(drawn * factor * (more.get(role, 1.0) if isinstance(more, dict) else more))


T = TypeVar("T")

Process: TypeAlias = Generator[Any, Any, T]
"""A generator of SimPy events whose ``return`` value is a ``T``, e.g. ``Process[Answer[Idea]]``."""
