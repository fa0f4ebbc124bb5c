"""Rules of mobility, by which scientists move to another institution."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.society.demographics.poisson import poisson_process
from virsci_society.society.formation.rejection_sampling import sample_present
from virsci_society.society.kernel.durations import Process
from virsci_society.society.kernel.streams import Streams

if TYPE_CHECKING:
    from virsci_society.society.teams.world import World

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
        """Draw the institution that a scientist moves to.

        Args:
            row: of the scientist.
            world: as of now.
            rng: the random stream of this move.

        Returns:
            An institution other than its own; None where there is no other.
        """
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
    """Draw another institution in proportion to the scientists who work there, by rejection.

    Args:
        row: of the scientist who moves.
        world: as of now.
        rng: the random stream of this move.

    Returns:
        An institution; None where ``MAX_DRAWS`` scientists all work at its own or at none.
    """
    own = institution_of(row, world)
    for _ in range(MAX_DRAWS):
        other = sample_present(world, {row}, rng)
        place = None if other is None else institution_of(other, world)
        if place not in (None, own):
            return place
    return None


def institution_of(row: int, world: World) -> str | None:
    """The institution at which a scientist works as of now; None where it is not known."""
    affiliations = world.population.profile(row, world.day).affiliations
    return affiliations[0] if affiliations else None


def change_institution(world: World, row: int, place: str) -> None:
    """Move a scientist to an institution now, with an event and a row of ``careers``.

    Args:
        world: as of now.
        row: of the scientist.
        place: the institution, which replaces all affiliations.
    """
    people, date = world.population, world.day
    people.set_affiliations(row, (place,))
    world.log.event("moved", scientist=people.names[row], place=place)
    world.log.row("careers", people.names[row], date, "moved", place)
    # A profile counts strictly before its date (rule 16); the bank needs the one with the move.
    world.knowledge.update(date, people.profile(row, math.nextafter(date, math.inf)))


def mobility_process(world: World, streams: Streams, rows: range, rule: Mobility) -> Process[None]:
    """A process in which some people move to other institutions at the rate of a rule.

    Args:
        world: as of now.
        streams: the random streams of these people.
        rows: the people.
        rule: gives the rate and the destinations.
    """
    move = partial(_move, world, rule)
    return poisson_process(world, streams, "moves", rows, rule.per_year, move)


def _move(world: World, rule: Mobility, row: int, rng: np.random.Generator) -> None:
    place = rule.destination(row, world, rng)
    if place is not None:
        change_institution(world, row, place)
