"""Rules by which scientists leave a society, by retirement or inactivity, and move in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from itertools import count
from math import gamma
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.config import Part
from virsci_society.society.formation.sampling import sample_present
from virsci_society.society.kernel.durations import Days, Process, to_ticks
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.papers import DAYS_PER_YEAR

if TYPE_CHECKING:
    from virsci_society.society.formation.world_view import WorldView
    from virsci_society.society.teams.world import World


class Retirement(Part):
    """A rule of retirement. Subclass it and write ``remaining_days``."""

    def remaining_days(self, ages: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw the days until each of some people retires, given those since its career began."""
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
        """Draw from the Weibull distribution, given that each career has lasted for its age."""
        scale = self.mean / gamma(1 + 1 / self.shape)
        # The survival function exp(-(t / scale)^shape) is inverted on the condition t > age.
        with np.errstate(over="ignore"):
            passed = (ages / scale) ** self.shape + rng.standard_exponential(len(ages))
        left = np.maximum(0.0, scale * passed ** (1 / self.shape) - ages)
        # Where the power overflows, the career has lasted far beyond its mean: it ends now.
        return np.where(np.isfinite(passed), left, 0.0)


def retirement_process(
    world: World, streams: Streams, rows: range, rule: Retirement
) -> Process[None]:
    """A process in which each of some people retires on a date drawn now."""
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
    """Days since the first paper of each, since day 0 where it is unknown, or since its arrival."""
    people, years = world.population, world.ecosystem.career_starts
    # Rows of day 0 come before those of newcomers, so a slice takes only what is asked for.
    starts = years[rows.start : rows.stop]
    before = np.where(starts > 0, world.ecosystem.boundary - starts, 0) * DAYS_PER_YEAR
    came = [people.arrived[row] for row in range(max(rows.start, len(years)), rows.stop)]
    return np.concatenate([np.maximum(0.0, before) + world.day, world.day - np.array(came)])


def inactivity_process(
    world: World, rows: range, limit: float, from_last_paper: bool = False
) -> Process[None]:
    """A process in which scientists leave after so many days without a paper and without a team."""
    people = world.population

    def silent_since(row: int) -> float:
        last = world.history.last_date(row) if from_last_paper else None
        begun = people.present_since(row)
        return begun if last is None or begun > 0 else min(last, begun)

    # A heap: who has written or worked meanwhile is looked at again when its time would be over.
    checks = [(max(silent_since(row) + limit, world.day), row) for row in rows]
    heapify(checks)
    while checks:
        date, row = heappop(checks)
        yield world.env.timeout(date - world.day)
        act = people.last_act(row)
        until = (silent_since(row) if act == 0.0 else act) + limit
        if row in people.departed:
            continue
        if until <= world.day:
            world.depart(row, "inactive")
        else:
            heappush(checks, (until, row))


MAX_DRAWS = 512
"""Draws of a scientist at another institution, after which there is taken to be none."""


class Mobility(Part):
    """A rule of moves. Subclass it and write ``destination``.

    A scientist works at the first of its affiliations. With a move it gives up all of them for
    the new one.
    """

    per_year: float = Field(default=0.05, ge=0, le=100)
    """Moves per scientist present and year. Unit: moves per scientist and year. Source: assumed."""

    def destination(self, row: int, world: World, rng: np.random.Generator) -> str | None:
        """Draw the institution, other than its own, that a scientist (row) moves to."""
        raise NotImplementedError


class AnyPlace(Mobility):
    """Any institution at which somebody worked on day 0, each alike."""

    def destination(self, row: int, world: World, rng: np.random.Generator) -> str | None:
        """Draw uniformly among the other institutions of day 0."""
        own = institution_of(row, world)
        others = [place for place in world.ecosystem.profiles.institutions if place != own]
        return others[int(rng.integers(len(others)))] if others else None


class BySize(Mobility):
    """An institution in proportion to the number of scientists who work there as of the date."""

    def destination(self, row: int, world: World, rng: np.random.Generator) -> str | None:
        """Take the institution of a scientist drawn among all who work elsewhere."""
        return destination_by_size(row, world, rng)


class ByCoauthors(Mobility):
    """Where a former co-author works, each alike; by size where none of them works elsewhere."""

    def destination(self, row: int, world: World, rng: np.random.Generator) -> str | None:
        """Draw a co-author who is in the society and works elsewhere, and take its institution."""
        own, departed = institution_of(row, world), world.population.departed
        coauthors = [one for one in world.network.coauthors(row)[0].tolist() if one not in departed]
        places = [institution_of(coauthor, world) for coauthor in coauthors]
        elsewhere = [place for place in places if place not in (None, own)]
        if not elsewhere:
            return destination_by_size(row, world, rng)
        return elsewhere[int(rng.integers(len(elsewhere)))]


def destination_by_size(row: int, world: World, rng: np.random.Generator) -> str | None:
    """Draw another institution in proportion to who works there; None: all draws were in vain."""
    own = institution_of(row, world)
    for _ in range(MAX_DRAWS):
        other = sample_present(world, {row}, rng)
        place = None if other is None else institution_of(other, world)
        if place not in (None, own):
            return place
    return None


def institution_of(row: int, world: WorldView) -> str | None:
    """The institution at which a scientist works as of now; None where it is not known."""
    affiliations = world.population.affiliations_of(row, world.day)
    return affiliations[0] if affiliations else None


def change_institution(world: World, row: int, place: str) -> None:
    """Move a scientist (row) to an institution now, with an event and a row of ``careers``."""
    people, date = world.population, world.day
    people.set_affiliations(row, (place,))
    world.log.event("moved", scientist=people.names[row], place=place)
    world.log.row("careers", people.names[row], date, "moved", place)
    # A profile counts strictly before its date (rule 16); the bank needs the one with the move.
    world.knowledge.update(date, people.profile(row, math.nextafter(date, math.inf)))


def mobility_process(world: World, streams: Streams, rows: range, rule: Mobility) -> Process[None]:
    """A process in which some people move to other institutions at the rate of a rule."""

    def move(row: int, rng: np.random.Generator) -> None:
        place = rule.destination(row, world, rng)
        if place is not None:
            change_institution(world, row, place)

    return poisson_process(world, streams, "moves", rows, rule.per_year, move)


FAR_FUTURE = 1e9
"""A waiting time in days that is longer than any run."""


def poisson_process(
    world: World,
    streams: Streams,
    purpose: str,
    rows: Sequence[int],
    per_year: float,
    act: Callable[[int, np.random.Generator], None],
) -> Process[None]:
    """The superposition of one Poisson process per person; events of who has left are dropped."""
    if not per_year:
        return
    mean_gap = DAYS_PER_YEAR / (per_year * len(rows))
    for ordinal in count():
        rng = streams.stream(purpose, ordinal)
        yield world.env.timeout(to_ticks(min(rng.exponential(mean_gap), FAR_FUTURE)))
        # Among all rows, also of those who have left: so the rate of those who remain is unchanged.
        row = rows[int(rng.integers(len(rows)))]
        if row not in world.population.departed:
            act(row, rng)
