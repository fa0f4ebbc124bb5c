"""Rules of careers: who joins and leaves a society, with separate random streams."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field, model_validator

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.config import Part
from virsci_society.society.formation.sampling import sample_present
from virsci_society.society.kernel.durations import Days, Process, to_ticks
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.papers import DAYS_PER_YEAR

if TYPE_CHECKING:
    from virsci_society.society.teams.world import World


class Careers(Part):
    """A rule of careers. Subclass it and write ``processes``.

    Example:
        >>> class Sabbatical(vs.Careers):
        ...     after: vs.Days = 365.0
        ...     def processes(self, world, streams, rows):
        ...         for row in rows:
        ...             yield self.rest(world, row)
        ...     def rest(self, world, row):
        ...         yield world.env.timeout(self.after)
        >>> len(list(Sabbatical(after="2y").processes(lab.world, None, range(3))))
        3
    """

    def processes(self, world: World, streams: Streams, rows: range) -> Iterator[Process[None]]:
        """Careers of some people from now on, as generators that yield only timeouts.

        Args:
            rows: everybody who was ever in the society, when the rule begins; later one newcomer
                on the date of its arrival.
        """
        raise NotImplementedError


class Newcomers(Part):
    """A rule of newcomers. Subclass it and write ``starting_profile``."""

    per_year: float | None = Field(default=None, ge=0, le=100)
    """Newcomers per scientist and year; give this or ``number_per_year``. Unit: people per
    scientist and year."""
    number_per_year: float | None = Field(default=None, ge=0, le=1_000_000)
    """Newcomers per year in the whole society. Unit: people per year."""

    @model_validator(mode="after")
    def _one_rate(self) -> Newcomers:
        if (self.per_year is None) == (self.number_per_year is None):
            raise ValueError(
                "per_year or number_per_year, one of them: newcomers per scientist present and "
                "year, or per year in all"
            )
        return self

    def starting_profile(
        self, world: World, mentor: int, rng: np.random.Generator
    ) -> StartingProfile:
        """Draw what a newcomer comes with, given the row of the scientist who brings it."""
        raise NotImplementedError


class Apprentices(Newcomers):
    """Newcomers start at a mentor's institution with similar interests.

    As many interests as are not taken over come from somebody else who is here (assumed; advisors
    and advisees share much of what they work on).
    """

    shared: float = Field(default=0.5, ge=0, le=1)
    """Probability of inheriting each interest of the mentor. Unit: probability."""

    def starting_profile(
        self, world: World, mentor: int, rng: np.random.Generator
    ) -> StartingProfile:
        """Take the mentor's affiliations, and interests of the mentor and of another scientist."""
        return apprentice_profile(world, mentor, self.shared, rng)


class Retirement(Part):
    """A rule of retirement. Subclass it and write ``remaining_days``."""

    def remaining_days(self, ages: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw the days until each of some people retires, given those since its career began."""
        raise NotImplementedError


class Lengths(Retirement):
    """Careers last around ``mean``, counted from the first paper or from the coming (Weibull).

    Who is here on day 0 has lasted so far, so what is left is drawn on that condition. The career
    of somebody whose first year is not known begins on day 0.
    """

    mean: Days = Field(default=30 * DAYS_PER_YEAR, gt=0)
    """Mean career length."""
    shape: float = Field(default=4.0, gt=0.1, le=50)
    """Weibull shape: 1 is a constant hazard, larger is narrower."""

    def remaining_days(self, ages: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw from the Weibull distribution, given that each career has lasted for its age."""
        scale = self.mean / math.gamma(1 + 1 / self.shape)
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
    # Rows of day 0 precede newcomers, so a slice selects them.
    starts = years[rows.start : rows.stop]
    before = np.where(starts > 0, world.ecosystem.boundary - starts, 0) * DAYS_PER_YEAR
    came = [people.arrived[row] for row in range(max(rows.start, len(years)), rows.stop)]
    return np.concatenate([np.maximum(0.0, before) + world.day, world.day - np.array(came)])


def inactivity_process(
    world: World, rows: range, limit: float, from_last_paper: bool = False
) -> Process[None]:
    """Let scientists leave after ``limit`` days without a paper or a team.

    For the people of day 0 these days begin on day 0, or ``from_last_paper`` with their last paper.
    """
    people = world.population

    def silent_since(row: int) -> float:
        last = world.history.last_date(row) if from_last_paper else None
        begun = people.present_since(row)
        return begun if last is None or begun > 0 else min(last, begun)

    # A heap: people who have been active since are checked again at their new time limit.
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


class Rates(Careers):
    """Newcomers, retirement, and departure after inactivity."""

    newcomers: Newcomers | None = None
    """Arrivals; null: none."""
    retirement: Retirement | None = None
    """Length of careers; null: no retirement."""
    inactivity: Days | None = Field(default=None, gt=0)
    """Scientists leave after this time without paper or team; null: never. Source: tau of Guimera
    et al. 2005."""
    silent_since: Literal["day_0", "last_paper"] = "day_0"
    """For the initial population, inactivity counts from day 0 or from the last paper."""

    def processes(self, world: World, streams: Streams, rows: range) -> Iterator[Process[None]]:
        """One process for each setting that is stated."""
        if self.newcomers is not None:
            yield arrival_process(world, streams, rows, self.newcomers)
        if self.retirement is not None:
            yield retirement_process(world, streams, rows, self.retirement)
        if self.inactivity is not None:
            yield inactivity_process(
                world, rows, self.inactivity, self.silent_since == "last_paper"
            )


class CareerProcess:
    """The processes of the career rule in force, which another rule replaces."""

    def __init__(self, world: World) -> None:
        self._world, self._streams = world, Streams(world.streams.seed, "careers")

    def reseed(self, seed: int) -> None:
        """Draw everything about careers from another seed from now on."""
        self._streams.reseed(seed)

    def begin(self, rule: Careers | None, rows: range) -> None:
        """Start the processes of a rule now, for everybody (rows) or one newcomer."""
        if rule is None:
            return
        # A newcomer has separate streams, so its arrival changes no other draw.
        own = self._streams
        streams = own if rows.start == 0 else own.below("newcomer", rows.start)
        for process in rule.processes(self._world, streams, rows):
            self._world.env.process(self._while_in_force(process))

    def restart(self, rule: Careers | None, number: int) -> None:
        """Replace the rule for everybody; the number of the intervention names the new streams."""
        self._streams = Streams(self._world.streams.seed, "careers", "since", number)
        self.begin(rule, range(len(self._world.population)))

    def _while_in_force(self, process: Process[None]) -> Process[None]:
        """Run a process of the rule until another rule replaces it."""
        streams = self._streams
        for event in process:
            yield event
            # New streams mean a new rule: whatever this process would do next is dropped.
            if streams is not self._streams:
                return


StartingProfile = tuple[tuple[str, ...], tuple[str, ...]]
"""The affiliations and the interests that a newcomer comes with."""


def apprentice_profile(
    world: World, mentor: int, shared: float, rng: np.random.Generator
) -> StartingProfile:
    """Draw what an apprentice comes with: the mentor's place, and some of its interests."""
    people, day = world.population, world.day
    interests = people.interests_of(mentor, day)
    taken = [topic for topic in interests if rng.random() < shared]
    other = sample_present(world, {mentor}, rng)
    if other is not None:
        theirs = people.interests_of(other, day)
        new = [topic for topic in theirs if topic not in interests]
        taken += new[: max(0, len(interests) - len(taken))]
    return people.affiliations_of(mentor), tuple(taken) or interests


def add_newcomer(
    world: World, affiliations: tuple[str, ...], interests: tuple[str, ...], mentor: int | None
) -> int:
    """Add a newcomer to the society now and return its row; others know of it after this date."""
    people, date = world.population, world.day
    row = people.add_newcomer(affiliations, interests)
    # At once, because a row means the same person in the network and in the population.
    world.network.add_row()
    profile = people.profile(row, date)
    place = profile.affiliations[0] if profile.affiliations else None
    by = None if mentor is None else people.names[mentor]
    world.log.event("arrived", scientist=profile.id, place=place, mentor=by)
    world.log.row("careers", profile.id, date, "arrived", place)
    world.log.row("scientists", profile.id, profile.topic, 0, 0, None, date, place)
    # Here, because a scenario is checked without the literature and the embeddings.
    from virsci_society.society.ecosystem.knowledge_bank import interests_text
    from virsci_society.society.teams.library import vector_of_text

    vector = vector_of_text(world, (f"{profile.id}/interests", date), interests_text(profile))
    world.knowledge.update(date, profile, vector)
    # Last: what begins here may ask for its profile and its vector.
    world.welcome(row)
    return row


def arrival_process(world: World, streams: Streams, rows: range, rule: Newcomers) -> Process[None]:
    """A process in which newcomers join the society at the rate of a rule."""

    def bring(mentor: int | None, rng: np.random.Generator) -> None:
        if mentor is not None:
            add_newcomer(world, *rule.starting_profile(world, mentor, rng), mentor)

    if rule.per_year is not None:
        return poisson_process(world, streams, "newcomers", rows, rule.per_year, bring)
    # A newcomer (rows from above 0) must not add to the rate of the whole society.
    number = (rule.number_per_year or 0.0) if rows.start == 0 else 0.0
    return poisson_process(
        world,
        streams,
        "newcomers",
        (-1,),
        number,
        lambda _, rng: bring(sample_present(world, set(), rng), rng),
    )
