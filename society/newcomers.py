"""Newcomers: who comes to a society that lives, how often, and from where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field, model_validator

from agents.part import Part
from society.drawing import draw
from society.excluded import Excluded

if TYPE_CHECKING:
    from society.world import World

Start = tuple[tuple[str, ...], tuple[str, ...]]
"""Affiliations and interests that somebody comes with."""


class Newcomers(Part):
    """Subclass it and write ``start``; newcomers have written nothing and know nobody."""

    per_year: float | None = Field(default=None, ge=0, le=100)
    """Newcomers per scientist present and year: each brings its own. Give this or
    ``number_per_year``. Assumed."""
    number_per_year: float | None = Field(default=None, ge=0, le=1_000_000)
    """Newcomers per year, however many scientists there are, as long as anybody is there.
    Assumed."""

    @model_validator(mode="after")
    def _one_rate(self) -> Newcomers:
        if (self.per_year is None) == (self.number_per_year is None):
            raise ValueError(
                "per_year or number_per_year, one of them: newcomers per scientist present and "
                "year, or per year in all"
            )
        return self

    def start(self, world: World, mentor: int, rng: np.random.Generator) -> Start:
        """What somebody comes with.

        Args:
            world: as of now.
            mentor: row of the scientist who brings it.
            rng: the stream of this coming.
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
    """Probability that an interest of the mentor is taken over. Assumed."""

    def start(self, world: World, mentor: int, rng: np.random.Generator) -> Start:
        """The mentor's affiliations, and interests of the mentor and of another."""
        known = world.population.profile(mentor, world.day)
        taken = [one for one in known.interests if rng.random() < self.shared]
        other = anybody(world, {mentor}, rng)
        if other is not None:
            theirs = world.population.profile(other, world.day).interests
            new = [one for one in theirs if one not in known.interests]
            taken += new[: max(0, len(known.interests) - len(taken))]
        return known.affiliations, tuple(taken) or known.interests


class Outsiders(Newcomers):
    """Outsiders: they have the interests of somebody who is here and the affiliations of another.

    Both are drawn from all who are here, each alike, so that newcomers are spread over subjects
    and institutions as everybody is (the neutral rule; assumed).
    """

    def start(self, world: World, mentor: int, rng: np.random.Generator) -> Start:
        """The interests of one and the affiliations of another."""
        profile, day = world.population.profile, world.day
        rows = [anybody(world, set(), rng) for _ in range(2)]
        like, at = (mentor if row is None else row for row in rows)
        return profile(at, day).affiliations, profile(like, day).interests


def anybody(world: World, without: set[int], rng: np.random.Generator) -> int | None:
    """Anybody who is here and did not come on this very date, each alike; None: nobody is."""
    people = world.population
    excluded = Excluded(people.gone.keys(), people.just_arrived() | without)

    def propose() -> int:
        return int(rng.integers(len(people)))

    return draw(propose, lambda rows: np.ones(len(rows)), len(people), excluded, rng)
