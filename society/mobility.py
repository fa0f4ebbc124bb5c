"""Mobility: scientists go to work elsewhere, and where they go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from agents.part import Part
from society.newcomers import anybody

if TYPE_CHECKING:
    from society.world import World

TRIES = 512
"""Draws of somebody who works elsewhere before nobody is taken to do so."""


class Mobility(Part):
    """Subclass it and write ``destination``.

    Somebody works at the first of its affiliations. Who moves leaves all of them for the new one.
    """

    per_year: float = Field(default=0.05, ge=0, le=100)
    """Moves per scientist present and year. Assumed."""

    def destination(self, row: int, world: World, rng: np.random.Generator) -> str | None:
        """Where a scientist goes: not where it works now; None: there is nowhere else."""
        raise NotImplementedError


class AnyPlace(Mobility):
    """Any institution at which somebody worked on day 0, each alike."""

    def destination(self, row: int, world: World, rng: np.random.Generator) -> str | None:
        """One of the others."""
        here = place_of(row, world)
        others = [one for one in world.ecosystem.profiles.institutions if one != here]
        return others[int(rng.integers(len(others)))] if others else None


class BySize(Mobility):
    """An institution in proportion to the number of scientists who work there as of the date."""

    def destination(self, row: int, world: World, rng: np.random.Generator) -> str | None:
        """Where somebody drawn from all who work elsewhere does."""
        return by_size(row, world, rng)


class ByCoauthors(Mobility):
    """Where a former co-author works, each alike; by size where none of them works elsewhere."""

    def destination(self, row: int, world: World, rng: np.random.Generator) -> str | None:
        """The place of one of the co-authors who are still here."""
        here, gone = place_of(row, world), world.population.gone
        known = [one for one in world.network.row(row)[0].tolist() if one not in gone]
        places = [place for one in known if (place := place_of(one, world)) not in (None, here)]
        if not places:
            return by_size(row, world, rng)
        return places[int(rng.integers(len(places)))]


def by_size(row: int, world: World, rng: np.random.Generator) -> str | None:
    """The place of anybody who works elsewhere."""
    here = place_of(row, world)
    for _ in range(TRIES):
        other = anybody(world, {row}, rng)
        place = None if other is None else place_of(other, world)
        if place not in (None, here):
            return place
    return None


def place_of(row: int, world: World) -> str | None:
    """Where a scientist works as of now; None where nothing is known of it."""
    affiliations = world.population.profile(row, world.day).affiliations
    return affiliations[0] if affiliations else None
