"""Rules by which newcomers join a running society.

An arrival is recorded as the event ``arrived`` and in the tables ``careers`` and ``scientists``.
The author knowledge bank finds the newcomer in searches dated after its arrival (rule 16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field, model_validator

from virsci_society.agents.config import Part
from virsci_society.society.departures import poisson_process
from virsci_society.society.formation.sampling import sample_present
from virsci_society.society.kernel.durations import Process
from virsci_society.society.kernel.streams import Streams

if TYPE_CHECKING:
    from virsci_society.society.teams.world import World

StartingProfile = tuple[tuple[str, ...], tuple[str, ...]]
"""The affiliations and the interests that a newcomer comes with."""


class Newcomers(Part):
    """A rule of newcomers. Subclass it and write ``starting_profile``.

    Newcomers have no papers and no co-authors.
    """

    per_year: float | None = Field(default=None, ge=0, le=100)
    """Newcomers per scientist present and year: each brings its own. Give this or
    ``number_per_year``. Assumed. Unit: people per scientist and year. Source: the user's choice."""
    number_per_year: float | None = Field(default=None, ge=0, le=1_000_000)
    """Newcomers per year, however many scientists there are, as long as anybody is there.
    Assumed. Unit: people per year. Source: the user's choice."""

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
        """Draw what a newcomer comes with.

        Args:
            world: as of now.
            mentor: row of the scientist who brings the newcomer.
            rng: the random stream of this arrival.

        Returns:
            Its affiliations and its interests, the main topic first.
        """
        raise NotImplementedError


class Apprentices(Newcomers):
    """Apprentices of those who are here: they begin where the mentor works, near its subjects.

    Every scientist is a mentor at the same rate. Each interest of the mentor is taken over with
    probability ``shared``; as many others as are left out come from somebody else who is here.
    So fields and institutions grow by those they have (assumed; advisors and advisees share much
    of what they work on).
    """

    shared: float = Field(default=0.5, ge=0, le=1)
    """Probability that an interest of the mentor is taken over. Unit: probability. Source:
    assumed."""

    def starting_profile(
        self, world: World, mentor: int, rng: np.random.Generator
    ) -> StartingProfile:
        """Take the mentor's affiliations, and interests of the mentor and of another scientist."""
        return apprentice_profile(world, mentor, self.shared, rng)


class Outsiders(Newcomers):
    """Outsiders: they have the interests of somebody who is here and the affiliations of another.

    Both are drawn from all who are here, each alike, so that newcomers are spread over subjects
    and institutions as everybody is (the neutral rule; assumed).
    """

    def starting_profile(
        self, world: World, mentor: int, rng: np.random.Generator
    ) -> StartingProfile:
        """Take the affiliations of one scientist and the interests of another."""
        profile, day = world.population.profile, world.day
        rows = [sample_present(world, set(), rng) for _ in range(2)]
        like, at = (mentor if row is None else row for row in rows)
        return profile(at, day).affiliations, profile(like, day).interests


def apprentice_profile(
    world: World, mentor: int, shared: float, rng: np.random.Generator
) -> StartingProfile:
    """Draw affiliations and interests of an apprentice: the mentor's place, some of its interests.

    Each interest is taken over with probability ``shared``; as many others as are left out come
    from another scientist.
    """
    people, day = world.population, world.day
    known = people.interests_of(mentor, day)
    taken = [topic for topic in known if rng.random() < shared]
    other = sample_present(world, {mentor}, rng)
    if other is not None:
        theirs = people.interests_of(other, day)
        new = [topic for topic in theirs if topic not in known]
        taken += new[: max(0, len(known) - len(taken))]
    return people.affiliations_of(mentor, day), tuple(taken) or known


def add_newcomer(
    world: World, affiliations: tuple[str, ...], interests: tuple[str, ...], mentor: int | None
) -> int:
    """Add a newcomer to the society now and return its row; others know of it after this date.

    The first affiliation and the first interest are the main ones; the mentor brings it.
    """
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
    """A process in which newcomers join the society at the rate of a rule.

    ``rows`` are the mentors, for a rate per scientist. A rate for the whole society has one
    process, that of the people of the beginning; for a newcomer it then adds nothing.
    """

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
