"""Classes of seniority by the length of a career as of now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.society.demographics.departures import career_ages

if TYPE_CHECKING:
    from virsci_society.society.teams.world import World

Seniority = Literal["early-career", "mid-career", "senior"]
SENIORITY: tuple[Seniority, ...] = ("early-career", "mid-career", "senior")


def seniority_codes(world: World) -> IntArray:
    """The class of everybody who was ever here, as its place in ``SENIORITY``.

    The youngest third of the careers of those who are present is early-career, the oldest third
    senior: what counts as long differs between fields. Where all careers are equally long,
    everybody is early-career.

    Args:
        world: as of now; careers begin as ``career_ages`` says.

    Returns:
        An array of shape (people,).
    """
    ages = career_ages(world, range(len(world.population)))
    here = np.ones(len(ages), dtype=bool)
    here[[world.population.rows[name] for name in sorted(world.population.departed_names())]] = (
        False
    )
    low, high = np.quantile(ages[here] if here.any() else ages, [1 / 3, 2 / 3])
    return classes_of_ages(ages, float(low), float(high))


def classes_of_ages(ages: FloatArray, low: float, high: float) -> IntArray:
    """The classes of careers, as places in ``SENIORITY``.

    Args:
        ages: of the careers, in days.
        low: up to this age a career is early.
        high: from this age on it is senior.
    """
    return np.where(ages <= low, 0, np.where(ages >= high, 2, 1)).astype(np.int64)


def seniority_of(world: World, who: str) -> Seniority:
    """The class of one scientist as of now.

    Args:
        world: as of now.
        who: masked name.
    """
    return SENIORITY[int(seniority_codes(world)[world.population.rows[who]])]


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
