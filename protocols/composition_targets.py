"""Targets for the freshness and diversity of a team, to which its leader steers it.

A target is a number of members who are fresh (no joint paper with any other member), or of
distinct main topics; who is drawn keeps every target reachable.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from virsci_society.agents.arrays import BoolArray, IntArray

if TYPE_CHECKING:
    from virsci_society.society.population.network import CoauthorNetwork


def nearest_attainable(target: float, n: int, attainable: Sequence[int]) -> int:
    """The attainable number of ``n`` members nearest to a target share; ties go to the lower."""
    # Rounded, so that a difference in the last bit is still a tie.
    return min(attainable, key=lambda count: (round(abs(count - target * n), 9), count))


def fresh_members(team: Sequence[int], joint: Callable[[int, int], int]) -> int:
    """Number of members who have no joint paper with any other member."""
    return sum(
        all(joint(member, other) == 0 for other in team if other != member) for member in team
    )


def _can_end_with(target: int, alone: int, together: int, seats: int) -> bool:
    """Can a team still end with ``target`` members who are alone, which is fresh?

    With each seat either one more is alone, or the newcomer is not, and may take along one member
    who was. There is never exactly one member who is not alone. A newcomer who has written with
    several of those who are alone takes all of them along, but no plan relies on finding one: any
    team on target can be gathered without. Those who are not alone now are ``together``.
    """
    missing = alone + seats - target
    if missing < 0:
        return False
    if missing == 0:
        return True
    if seats == 0:
        return False
    return missing <= seats + min(seats, alone) and not (missing == 1 and together == 0)


@dataclass(frozen=True)
class CompositionTargets:
    """The composition of a team of ``n`` that its leader wants; None where nothing is wanted."""

    n: int
    fresh: int | None = None
    distinct: int | None = None

    @classmethod
    def nearest(
        cls, n: int, freshness: float | None, diversity: float | None
    ) -> CompositionTargets:
        """The attainable targets nearest to the shares wanted."""
        fresh = distinct = None
        if freshness is not None:
            # It is never exactly one member who is not fresh.
            attainable = [count for count in range(n + 1) if count != n - 1]
            fresh = n if n == 1 else nearest_attainable(freshness, n, attainable)
        if diversity is not None:
            distinct = nearest_attainable(diversity, n, range(1, n + 1))
        return cls(n, fresh, distinct)

    @property
    def are_set(self) -> bool:
        """True if anything is wanted."""
        return not self.fresh is self.distinct is None

    def reachable(
        self,
        team: Sequence[int],
        joint: Callable[[int, int], int],
        topic: Callable[[int], Hashable],
    ) -> bool:
        """Can this team still be completed to every target?"""
        seats = self.n - len(team)
        if self.fresh is not None:
            alone = fresh_members(team, joint)
            if not _can_end_with(self.fresh, alone, len(team) - alone, seats):
                return False
        if self.distinct is not None:
            have = len({topic(member) for member in team})
            return have <= self.distinct <= have + seats
        return True

    def suitable_rows(
        self, team: Sequence[int], network: CoauthorNetwork, subjects: IntArray
    ) -> BoolArray:
        """Of every row: would the team with this newcomer keep every target reachable?"""

        # Only co-authors of members are looked at one by one: others with one topic are alike.
        def is_suitable(row: int) -> bool:
            return self.reachable([*team, row], network.joint_papers, subjects.__getitem__)

        suitable = np.zeros(len(subjects), dtype=bool)
        strangers = np.ones(len(subjects), dtype=bool)
        coauthors = np.unique(np.concatenate([network.coauthors(member)[0] for member in team]))
        strangers[coauthors] = strangers[list(team)] = False
        held = np.unique(subjects[list(team)])
        same_topic = [strangers & (subjects == subject) for subject in held]
        for group in (*same_topic, strangers & ~np.isin(subjects, held)):
            first = int(group.argmax())
            if group[first]:
                suitable[group] = is_suitable(first)
        for row in np.setdiff1d(coauthors, list(team)).tolist():
            suitable[row] = is_suitable(row)
        return suitable
