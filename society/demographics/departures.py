"""Rules by which scientists leave a society, by retirement or after inactivity."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from math import gamma
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.config import Part
from virsci_society.society.demographics.poisson import FAR_FUTURE
from virsci_society.society.kernel.durations import Days, Process, to_ticks
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.papers import DAYS_PER_YEAR

if TYPE_CHECKING:
    from virsci_society.society.teams.world import World


class Retirement(Part):
    """A rule of retirement. Subclass it and write ``remaining_days``."""

    def remaining_days(self, ages: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw the time until each of some people retires.

        Args:
            ages: days since the beginning of each career, >= 0, an array of shape (people,).
            rng: the random stream of these people.

        Returns:
            Days, >= 0, an array of the same shape.
        """
        raise NotImplementedError


class Hazard(Retirement):
    """Everybody retires at the same rate, however long the career has lasted."""

    per_year: float = Field(default=0.03, ge=0, le=100)
    """Retirements per scientist present and year. Unit: retirements per scientist and year. Source:
    assumed."""

    def remaining_days(self, ages: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw from the exponential distribution, whose remaining time does not depend on age."""
        days = rng.standard_exponential(len(ages)) * DAYS_PER_YEAR
        return days / self.per_year if self.per_year else np.full(len(ages), FAR_FUTURE)


class Lengths(Retirement):
    """Careers last around ``mean``, counted from the first paper or from the coming (Weibull).

    Who is here on day 0 has lasted so far, so what is left is drawn on that condition. The career
    of somebody whose first year is not known begins on day 0.
    """

    mean: Days = Field(default=30 * DAYS_PER_YEAR, gt=0)
    """Mean length of a career. Unit: days. Source: assumed."""
    shape: float = Field(default=4.0, gt=0.1, le=50)
    """Of the Weibull distribution: 1 is a constant hazard, larger is narrower. Source: assumed."""

    def remaining_days(self, ages: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw from the Weibull distribution, given that each career has lasted for its age.

        Source:
            Inversion of the survival function exp(-(t / scale)^shape) conditional on t > age.
        """
        scale = self.mean / gamma(1 + 1 / self.shape)
        with np.errstate(over="ignore"):
            passed = (ages / scale) ** self.shape + rng.standard_exponential(len(ages))
        left = np.maximum(0.0, scale * passed ** (1 / self.shape) - ages)
        # Where the power overflows, the career has lasted far beyond its mean: it ends now.
        return np.where(np.isfinite(passed), left, 0.0)


def retirement_process(
    world: World, streams: Streams, rows: range, rule: Retirement
) -> Process[None]:
    """A process in which each of some people retires on a date drawn now.

    Args:
        world: as of now.
        streams: the random streams of these people.
        rows: the people.
        rule: draws the remaining time of each career.
    """
    began = world.day
    left = np.minimum(
        rule.remaining_days(career_ages(world, rows), streams.stream("retirement")), FAR_FUTURE
    )
    # Stable, so that those who retire at the same time go in order of row (rule 12).
    for index in np.argsort(left, kind="stable"):
        yield world.env.timeout(began + to_ticks(float(left[index])) - world.day)
        if rows[index] not in world.population.departed:
            world.depart(rows[index], "retired")


def career_ages(world: World, rows: range) -> FloatArray:
    """The time since the beginning of each career, in days.

    A career begins with the year of the first paper, on day 0 where that is not known, and for a
    newcomer on the date of its arrival.

    Args:
        world: as of now.
        rows: the people, in a row.

    Returns:
        Days, >= 0, an array of shape (people,).
    """
    people, years = world.population, world.ecosystem.career_starts
    # Rows of day 0 come before those of newcomers, so a slice takes only what is asked for.
    starts = years[rows.start : rows.stop]
    before = np.where(starts > 0, world.ecosystem.boundary - starts, 0) * DAYS_PER_YEAR
    came = [people.arrived[row] for row in range(max(rows.start, len(years)), rows.stop)]
    return np.concatenate([np.maximum(0.0, before) + world.day, world.day - np.array(came)])


DatedRow = tuple[float, int]
"""A date in days, and the row of the scientist who is checked on it."""


def inactivity_process(
    world: World, rows: range, limit: float, from_last_paper: bool = False
) -> Process[None]:
    """A process in which scientists leave after a time without a paper and without a team.

    Args:
        world: as of now.
        rows: the people.
        limit: the time in days.
        from_last_paper: whether for the people of day 0 this time begins with their last paper.
            Otherwise it begins on day 0: that they are in the ecosystem says that they are
            scientists on that day.
    """
    people = world.population

    def silent_since(row: int) -> float:
        last = world.history.last_date(row) if from_last_paper else None
        begun = people.present_since(row)
        return begun if last is None or begun > 0 else min(last, begun)

    # Sorted, because the last papers are not in the order of rows.
    first = iter(sorted((max(silent_since(row) + limit, world.day), row) for row in rows))
    again: list[DatedRow] = []
    for date, row in _in_order_of_date(first, again):
        yield world.env.timeout(date - world.day)
        act = people.last_act(row)
        until = (silent_since(row) if act == 0.0 else act) + limit
        if row in people.departed:
            continue
        if until <= world.day:
            world.depart(row, "inactive")
        else:
            heappush(again, (until, row))


def _in_order_of_date(first: Iterator[DatedRow], again: list[DatedRow]) -> Iterator[DatedRow]:
    """Merge an ordered series with a heap that grows meanwhile, in order of date."""
    upcoming = next(first, None)
    while upcoming is not None or again:
        if upcoming is None or (again and again[0] < upcoming):
            yield heappop(again)
        else:
            yield upcoming
            upcoming = next(first, None)
