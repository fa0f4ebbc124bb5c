"""Classes of seniority by the length of a career as of now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from society.demographics.departures import career_ages

if TYPE_CHECKING:
    from society.teams.world import World

Seniority = Literal["early-career", "mid-career", "senior"]
SENIORITY: tuple[Seniority, ...] = ("early-career", "mid-career", "senior")


def seniority_of(world: World) -> list[Seniority]:
    """The class of everybody who was ever here, by row.

    The youngest third of the careers of those who are present is early-career, the oldest third
    senior: what counts as long differs between fields. Where all careers are equally long,
    everybody is early-career.

    Args:
        world: as of now; careers begin as ``career_ages`` says.
    """
    ages = career_ages(world, range(len(world.population)))
    gone = world.population.departed_names()
    here = np.array([name not in gone for name in world.population.names])
    low, high = np.quantile(ages[here] if here.any() else ages, [1 / 3, 2 / 3])
    return [class_of_age(float(age), float(low), float(high)) for age in ages]


def class_of_age(age: float, low: float, high: float) -> Seniority:
    """The class of one career.

    Args:
        age: of the career, in days.
        low: up to this age it is early-career.
        high: from this age on it is senior.
    """
    if age <= low:
        return "early-career"
    return "senior" if age >= high else "mid-career"


def missing_classes(wanted: Sequence[Seniority], present: Sequence[Seniority]) -> list[Seniority]:
    """The classes that a team still needs.

    Args:
        wanted: one per seat.
        present: of those who are members.
    """
    left = list(wanted)
    for one in present:
        if one in left:
            left.remove(one)
    return left
