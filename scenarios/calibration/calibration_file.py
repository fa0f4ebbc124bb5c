"""The keys of a calibration file, and those that are taken where only an ecosystem is given."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from scipy import special

from virsci_society.agents.config import Part
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.estimation.count_models import unlink
from virsci_society.scenarios.config.reader import write_part

DRIFT = 0.1
"""Standard deviation of the change of a prior's score a year, where it has a trend."""
_YEARS = re.compile(r"^\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?$")


class Window(Part):
    """Whole calendar years, the last one included."""

    first: int = Field(ge=1)
    """The first year."""
    last: int = Field(ge=1)
    """The last year."""

    @model_validator(mode="after")
    def _in_order(self) -> Window:
        if self.last < self.first:
            raise ValueError(f"the years {self.first}-{self.last} run backwards")
        return self

    @property
    def years(self) -> int:
        """How many years."""
        return self.last - self.first + 1

    @property
    def name(self) -> str:
        """``2008-2009``, or ``2008``."""
        return f"{self.first}-{self.last}" if self.last > self.first else str(self.first)

    def overlaps(self, other: Window) -> bool:
        """Have both a year in common?"""
        return self.first <= other.last and other.first <= self.last


def _as_window(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"first": value, "last": value}
    if isinstance(value, str):
        found = _YEARS.match(value)
        if found is None:
            raise ValueError(f"got {value!r}, expected years such as 2008-2009 or 2008")
        return {"first": int(found[1]), "last": int(found[2] or found[1])}
    return value


Years = Annotated[Window, BeforeValidator(_as_window)]
"""A window, written as ``2008-2009``."""


class ParameterPrior(Part):
    """What is believed of a parameter before the simulations; a score z is standard normal."""

    trend: bool = False
    """Whether it may drift over the windows: its score changes by N(0, 0.1) a year."""

    @property
    def centred(self) -> bool:
        """Whether it lies around the counted value of each window."""
        return False

    def value(self, score: float, floor: float, counted: float | None) -> float:
        """The parameter at a score.

        Args:
            score: standard normal.
            floor: least value of the parameter, whose excess is log-normal.
            counted: the counted value on the scale of the parameter; None where there is none.
        """
        raise NotImplementedError

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest value that it can take, or a median that must lie in the range."""
        raise NotImplementedError


class NormalPrior(ParameterPrior):
    """A prior that is normal on the scale of its link, around a median."""

    median: float | Literal["counted"] = "counted"
    """Its median, or ``counted``: around the counted value of each window."""
    sd: float = Field(default=0.5, gt=0, le=5)
    """Standard deviation on that scale."""

    @property
    def centred(self) -> bool:
        """Whether it lies around the counted value of each window."""
        return isinstance(self.median, str)


class LogitNormal(NormalPrior):
    """A probability whose log odds are normally distributed."""

    @model_validator(mode="after")
    def _probability(self) -> LogitNormal:
        if not isinstance(self.median, str) and not 0 < self.median < 1:
            raise ValueError(f"median is {self.median:g}; a logit-normal lies between 0 and 1")
        return self

    def value(self, score: float, floor: float, counted: float | None) -> float:
        """The parameter at a score."""
        middle = counted if isinstance(self.median, str) else float(special.logit(self.median))
        return unlink("logit", (middle or 0.0) + self.sd * score)

    @property
    def bounds(self) -> tuple[float, float]:
        """Between 0 and 1."""
        return 0.0, 1.0


class LogNormal(NormalPrior):
    """A positive number whose logarithm is normally distributed."""

    median: Annotated[float, Field(gt=0)] | Literal["counted"] = "counted"
    """Its median, or ``counted``: around the counted value of each window."""

    def value(self, score: float, floor: float, counted: float | None) -> float:
        """The parameter at a score."""
        if isinstance(self.median, str):
            return floor + math.exp((counted or 0.0) + self.sd * score)
        return self.median * math.exp(self.sd * score)

    @property
    def bounds(self) -> tuple[float, float]:
        """Its median, twice."""
        median = 1.0 if isinstance(self.median, str) else self.median
        return median, median


class UniformPrior(ParameterPrior):
    """Every value between two bounds alike."""

    low: float
    """Least value."""
    high: float
    """Largest value."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.low < self.high:
            raise ValueError(
                f"low is {self.low:g} and high {self.high:g}; give the lower one first"
            )
        return self

    def value(self, score: float, floor: float, counted: float | None) -> float:
        """The parameter at a score."""
        return self.low + (self.high - self.low) * float(special.ndtr(score))

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds."""
        return self.low, self.high


class LogUniform(UniformPrior):
    """Every logarithm between those of two bounds alike."""

    low: float = Field(gt=0)
    """Least value."""
    high: float = Field(gt=0)
    """Largest value."""

    def value(self, score: float, floor: float, counted: float | None) -> float:
        """The parameter at a score."""
        share = float(special.ndtr(score))
        return math.exp(math.log(self.low) + share * math.log(self.high / self.low))


PRIORS: dict[str, type[ParameterPrior]] = {
    "logit_normal": LogitNormal,
    "log_normal": LogNormal,
    "uniform": UniformPrior,
    "log_uniform": LogUniform,
}
"""Every kind of prior by the name that follows ``use:``."""
TARGETS = (
    *("newcomers", "q", "repeat_rate", "newcomer_newcomer", "newcomer_incumbent"),
    *("papers_per_author", "gini", "coauthors", "team_size"),
)
CHECKS = (
    *("giant_component", "clustering", "assortativity", "authors", "alone"),
    *("m_patterns", "tie_lifetime"),
)
DEFAULT_PRIORS: dict[str, ParameterPrior] = {
    keys.SEAT: LogitNormal(sd=0.4),
    keys.SIZE: LogNormal(sd=0.15),
    keys.AGAIN: LogitNormal(sd=0.7),
    keys.Q: LogitNormal(sd=0.7),
    keys.SPREAD: LogUniform(low=1, high=30),
    keys.ONE_OFF: UniformPrior(low=0, high=0.9),
}
"""What is fitted by simulation where a file names no priors."""


class Effort(Part):
    """How many simulations are made."""

    first_wave: int = Field(default=400, ge=20, le=100_000)
    """Points of the scrambled Sobol sequence, drawn from the priors."""
    second_wave: int = Field(default=200, ge=0, le=100_000)
    """Points around those of the first wave that are plausible."""
    noise: int = Field(default=30, ge=5, le=10_000)
    """Further seeds at the centre, for the covariance between seeds."""
    accept: float = Field(default=0.05, gt=0, le=1)
    """Share of the points that are accepted as near."""
    seeds: int = Field(default=5, ge=5, le=10_000)
    """Runs of each held-out window at the calibrated values."""
    draws: int = Field(default=20, ge=5, le=10_000)
    """Draws from the posterior for its predictions, in every window."""


class CalibrationFile(Part):
    """One calibration: what is counted, what is fitted, what it is judged by."""

    calibrate: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")
    """Its title."""
    source: tuple[str, ...] = ()
    """Kind of a source and its files: ``[jsonl, papers.jsonl.gz]``."""
    ecosystem: Path | None = None
    """Or the folder of an ecosystem, whose past papers are used."""
    base: str = "community/assembly"
    """The scenario that the calibrated one extends: a name of the library or a path."""
    fit: tuple[Years, ...] = Field(min_length=1)
    """Windows that are fitted, each simulated from the papers before it; three or more, or the fit
    is to the chance of one window."""
    held_out: tuple[Years, ...] = Field(min_length=1)
    """Windows that are opened once, after the fit."""
    boundary: int | None = Field(default=None, ge=1)
    """The year on whose 1 January the calibrated values hold; by default the first year of the
    first held-out window, so that no held-out paper has a part in them."""
    leader: Literal["first", "last"] | None = None
    """Which author is taken for the leader of a team where leaders are counted; null: as the base
    scenario orders authors."""
    recent: int | None = Field(default=None, ge=1)
    """Only people with a paper in the last so many years may be drawn; null: everybody."""
    read_off: tuple[str, ...] = tuple(key for key, one in keys.PARAMETERS.items() if one.counted)
    """Keys, or sections of keys, that are counted; keys with a prior are fitted all the same. By
    default all that can be counted and that the base scenario has."""
    priors: dict[str, ParameterPrior] = Field(default_factory=lambda: dict(DEFAULT_PRIORS))
    """Keys that are fitted by simulation: ``{use: logit_normal, median: 0.4, sd: 0.5}``,
    ``log_normal``, ``{use: uniform, low: 0, high: 1}`` or ``log_uniform``."""
    targets: tuple[str, ...] = TARGETS
    """Quantities by which they are fitted."""
    checks: tuple[str, ...] = CHECKS
    """Quantities that are only looked at."""
    effort: Effort = Field(default_factory=Effort)
    """How many simulations are made."""
    seed: int = Field(default=1, ge=0, lt=2**31)
    """Everything random is derived from it."""
    simulator: str | None = None
    """Dotted path ``module:Class`` of another mechanism; needs ``--trust``."""

    @property
    def boundary_year(self) -> int:
        """The year on whose 1 January the calibrated values hold."""
        return self.boundary or min(one.first for one in self.held_out)

    def with_priors_of(self, known: Collection[str]) -> CalibrationFile:
        """The file without those of the default priors whose keys the base does not have."""
        priors = {key: prior for key, prior in self.priors.items() if key in known}
        return self.model_copy(update={"priors": priors})

    @property
    def end(self) -> int:
        """The first year of which no paper is used."""
        return max(self.boundary_year, *(one.last + 1 for one in self.held_out))


def file_data(file: CalibrationFile) -> dict[str, Any]:
    """The keys of a calibration file, without where its papers lie."""
    data = file.model_dump(mode="json", exclude={"priors", "source", "ecosystem"})
    data["priors"] = {
        key: {"use": type(prior).__name__, **write_part(prior)}
        for key, prior in file.priors.items()
    }
    return data
