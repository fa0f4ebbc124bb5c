"""Comings: newcomers are admitted, and people go to work elsewhere; both are told at once.

The events ``arrived`` and ``moved`` and rows of ``careers`` say so; the author knowledge bank has
it for everything that is asked after the date.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from society.ecosystem.knowledge import interests_text
from society.findings import vector_of_paper
from society.mobility import Mobility
from society.newcomers import Newcomers, anybody
from society.occurrences import occur
from society.steps import Steps
from society.streams import Streams
from society.world import World


def admit(
    world: World, affiliations: tuple[str, ...], interests: tuple[str, ...], mentor: int | None
) -> int:
    """Somebody comes now who has written nothing; known to others after this date. The row."""
    people, date = world.population, world.day
    row = people.admit(affiliations, interests)
    world.network.admit()
    profile = people.profile(row, date)
    place = profile.affiliations[0] if profile.affiliations else None
    by = None if mentor is None else people.names[mentor]
    world.log.event("arrived", scientist=profile.id, place=place, mentor=by)
    world.log.row("careers", profile.id, date, "arrived", place)
    world.log.row("scientists", profile.id, profile.topic, 0, 0, None, date)
    vector = vector_of_paper(world, (f"{profile.id}/interests", date), interests_text(profile))
    world.knowledge.update(date, profile, vector)
    world.welcome(row)
    return row


def relocate(world: World, row: int, place: str) -> None:
    """A scientist works at this place from now on, and nowhere else."""
    people, date = world.population, world.day
    people.move(row, (place,))
    world.log.event("moved", scientist=people.names[row], place=place)
    world.log.row("careers", people.names[row], date, "moved", place)
    world.knowledge.update(date, people.profile(row, math.nextafter(date, math.inf)))


def come(world: World, streams: Streams, rows: range, rule: Newcomers) -> Steps:
    """A process in which these people bring newcomers, or those of the whole society come."""

    def bring(mentor: int | None, rng: np.random.Generator) -> None:
        if mentor is not None:
            admit(world, *rule.start(world, mentor, rng), mentor)

    if rule.per_year is not None:
        return occur(world, streams, "newcomers", rows, rule.per_year, bring)
    # A number for the whole society comes once, and not again with each of those who come.
    number = (rule.number_per_year or 0.0) if rows.start == 0 else 0.0
    return occur(
        world,
        streams,
        "newcomers",
        (-1,),
        number,
        lambda _, rng: bring(anybody(world, set(), rng), rng),
    )


def move(world: World, streams: Streams, rows: range, rule: Mobility) -> Steps:
    """A process in which these people go to work elsewhere now and then."""
    return occur(world, streams, "moves", rows, rule.per_year, partial(_go, world, rule))


def _go(world: World, rule: Mobility, row: int, rng: np.random.Generator) -> None:
    place = rule.destination(row, world, rng)
    if place is not None:
        relocate(world, row, place)
