"""Who may be in a team of each arrangement of Idea2Proposal, and how its members are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.protocols.policies.coauthorship import Coauthorship
from virsci_society.society.departures import career_ages
from virsci_society.society.formation.selection import SelectionPolicy

if TYPE_CHECKING:
    from virsci_society.society.formation.world_view import WorldView
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
    """The classes that a team still needs."""
    left = list(wanted)
    for one in present:
        if one in left:
            left.remove(one)
    return left


Arrangement = Literal[
    "solitary", "leaderless", "leader_led", "interdisciplinary", "vertical", "horizontal"
]
MAX_DRAWS = 100
"""Draws of unsuitable people before everybody suitable is listed."""


def wanted_classes(arrangement: Arrangement, size: int) -> list[Seniority]:
    """The classes of seniority of a whole team; empty where the arrangement asks for none.

    Args:
        arrangement: ``vertical``: senior, mid-career, early-career, and again from the last one
            upwards where there are more seats; ``horizontal``: early-career throughout.
        size: members, the leader included.
    """
    if arrangement == "horizontal":
        return ["early-career"] * size
    if arrangement == "vertical":
        return [SENIORITY[::-1][place % 3] for place in range(size)]
    return []


class ComposedTeam(SelectionPolicy):
    """A selection policy whose draws are rejected until they fit the arrangement.

    Rejection leaves the proportions of the policy as they are among those who fit.
    """

    inner: SelectionPolicy = Coauthorship()
    """The policy by which people are drawn."""
    arrangement: Arrangement = "leaderless"
    """What the team has to be made of."""
    size: int = Field(default=3, ge=1, le=10_000)
    """Members of the whole team."""

    def suitable(self, members: Sequence[int], world: Any) -> BoolArray:
        """Who would fit into a team, as a mask over the rows of the population.

        Args:
            members: rows of those who are in it; empty: its leader is sought.
            world: as of now.
        """
        everybody = np.ones(len(world.population), dtype=bool)
        if self.arrangement == "interdisciplinary":
            topics = world.topic_numbers
            return ~np.isin(topics, topics[list(members)])
        classes = wanted_classes(self.arrangement, self.size)
        if not classes:
            return everybody
        codes = seniority_codes(world)
        present = [SENIORITY[int(codes[row])] for row in members]
        left = missing_classes(classes, present)
        # The first of a vertical team is its senior one, who leads.
        open_now = left[:1] if self.arrangement == "vertical" and not members else left
        return np.isin(codes, [SENIORITY.index(one) for one in open_now])

    def choose(
        self,
        members: Sequence[int],
        excluded: AbstractSet[int],
        world: WorldView,
        rng: np.random.Generator,
    ) -> int | None:
        """Draw by the inner policy until somebody fits; list those who fit if that takes long."""
        suitable = self.suitable(members, world)
        closed: AbstractSet[int] = excluded
        for _ in range(MAX_DRAWS):
            row = self.inner.choose(members, closed, world, rng)
            if row is None or suitable[row]:
                return row
            closed = closed | {row}
        left = [int(row) for row in np.flatnonzero(suitable) if int(row) not in excluded]
        if not left:
            return None
        weights = self.inner.chances(members, left, world)
        mass = float(weights.sum())
        return left[int(rng.choice(len(left), p=weights / mass))] if mass else None

    def chances(
        self, members: Sequence[int], candidates: Sequence[int], world: WorldView
    ) -> np.ndarray:
        """The weights of the inner policy, 0 for those who do not fit."""
        suitable = self.suitable(members, world)[list(candidates)]
        return np.where(suitable, self.inner.chances(members, candidates, world), 0.0)

    def of_run(self, seed: int) -> ComposedTeam:
        """The policy with what its inner policy fixes once per run."""
        return self.model_copy(update={"inner": self.inner.of_run(seed)})
