"""Retirement: how long a career lasts."""

from __future__ import annotations

from math import gamma
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pydantic import Field

from agents.part import Part
from society.durations import Days, to_ticks
from society.literature.paper import DAYS_PER_YEAR
from society.occurrences import FAR
from society.steps import Steps
from society.streams import Streams

if TYPE_CHECKING:
    from society.world import World

Floats = npt.NDArray[np.float64]


class Retirement(Part):
    """Subclass it and write ``left``."""

    def left(self, ages: Floats, rng: np.random.Generator) -> Floats:
        """Days until each of some people retires.

        Args:
            ages: days since the beginning of each career, >= 0.
            rng: the stream of these people.
        """
        raise NotImplementedError


class Hazard(Retirement):
    """Everybody retires at the same rate, however long the career has lasted."""

    per_year: float = Field(default=0.03, ge=0, le=100)
    """Retirements per scientist present and year. Assumed."""

    def left(self, ages: Floats, rng: np.random.Generator) -> Floats:
        """Exponential, which knows no age."""
        days = rng.standard_exponential(len(ages)) * DAYS_PER_YEAR
        return days / self.per_year if self.per_year else np.full(len(ages), FAR)


class Lengths(Retirement):
    """Careers last around ``mean``, counted from the first paper or from the coming (Weibull).

    Who is here on day 0 has lasted so far, so what is left is drawn on that condition. The career
    of somebody whose first year is not known begins on day 0.
    """

    mean: Days = Field(default=30 * DAYS_PER_YEAR, gt=0)
    """Mean length of a career. Assumed."""
    shape: float = Field(default=4.0, gt=0.1, le=50)
    """Of the Weibull distribution: 1 is a constant hazard, larger is narrower. Assumed."""

    def left(self, ages: Floats, rng: np.random.Generator) -> Floats:
        """By inversion of the survival function exp(-(t / scale)^shape) from each age on."""
        scale = self.mean / gamma(1 + 1 / self.shape)
        with np.errstate(over="ignore"):
            passed = (ages / scale) ** self.shape + rng.standard_exponential(len(ages))
        left = np.maximum(0.0, scale * passed ** (1 / self.shape) - ages)
        # Too many careers have passed for a number to hold: none of this one is left.
        return np.where(np.isfinite(passed), left, 0.0)


def retire(world: World, streams: Streams, rows: range, rule: Retirement) -> Steps:
    """A process in which these people retire, each on its date."""
    began = world.day
    left = np.minimum(rule.left(ages(world, rows), streams.stream("retirement")), FAR)
    for place in np.argsort(left, kind="stable"):
        yield world.env.timeout(began + to_ticks(float(left[place])) - world.day)
        if rows[place] not in world.population.gone:
            world.depart(rows[place], "retired")


def ages(world: World, rows: range) -> Floats:
    """Days since the beginning of each career: the year of the first paper, or the coming."""
    people, every = world.population, world.ecosystem.career_starts
    # Those of day 0 stand before all who came: nothing is done here for anybody else.
    starts = every[rows.start : rows.stop]
    before = np.where(starts > 0, world.ecosystem.boundary - starts, 0) * DAYS_PER_YEAR
    came = [people.arrived[row] for row in range(max(rows.start, len(every)), rows.stop)]
    return np.concatenate([np.maximum(0.0, before) + world.day, world.day - np.array(came)])
