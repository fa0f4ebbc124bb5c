"""Targets of team building: freshness and diversity that a team is steered to.

A target keeps a count that only grows while people join: members who are *not* fresh, or who
*share* their main topic, or distinct topics. A candidate is eligible while the target stays in
reach with the seats that remain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from society.network import CoauthorNetwork


def nearest(target: float, n: int, attainable: Sequence[int]) -> int:
    """The attainable number of members nearest to ``target * n``; ties go to the lower."""
    return min(attainable, key=lambda count: (round(abs(count - target * n), 9), count))


def fresh_members(team: Sequence[int], joint: Callable[[int, int], int]) -> int:
    """Members who have no joint paper with any other member."""
    return sum(
        all(joint(member, other) == 0 for other in team if other != member) for member in team
    )


def unique_topics(topics: Sequence[Hashable]) -> int:
    """Members whose main topic nobody else has."""
    return sum(count == 1 for count in Counter(topics).values())


def _reachable(alone: int, apart: int, together: int, seats: int) -> bool:
    """Can a team with ``alone`` fresh (unique) members still end with ``apart`` of them?

    ``together`` members are not alone now. With each seat either one more is alone, or the
    newcomer is not, and may take somebody who was alone with it. It is never exactly one who is
    not alone. A newcomer who has written with several of those who are alone takes them all,
    but nobody counts on finding one: any team on target can be gathered without.
    """
    missing = alone + seats - apart
    if missing < 0:
        return False
    if missing == 0:
        return True
    if seats == 0:
        return False
    return missing <= seats + min(seats, alone) and not (missing == 1 and together == 0)


@dataclass(frozen=True)
class Targets:
    """What a leader of a team of ``n`` aims at; counts of members, None where it does not.

    Attributes:
        n: team size.
        fresh: members without joint papers with any other member.
        distinct: distinct main topics.
        unique: members whose main topic nobody else has.
    """

    n: int
    fresh: int | None = None
    distinct: int | None = None
    unique: int | None = None

    @classmethod
    def of(cls, n: int, freshness: float | None, diversity: float | None, variant: str) -> Targets:
        """The nearest attainable targets: never one member apart from all the others."""
        alone = [count for count in range(n + 1) if count != n - 1 or n == 1]
        fresh = distinct = unique = None
        if freshness is not None:
            fresh = n if n == 1 else nearest(freshness, n, alone)
        if diversity is not None and variant == "distinct":
            distinct = nearest(diversity, n, range(1, n + 1))
        elif diversity is not None:
            unique = n if n == 1 else nearest(diversity, n, alone)
        return cls(n, fresh, distinct, unique)

    @property
    def any(self) -> bool:
        """Is anything aimed at?"""
        return not self.fresh is self.distinct is self.unique is None

    def in_reach(
        self,
        team: Sequence[int],
        joint: Callable[[int, int], int],
        topic: Callable[[int], Hashable],
    ) -> bool:
        """Can this team, itself included, still be completed to every target?"""
        seats = self.n - len(team)
        if self.fresh is not None:
            alone = fresh_members(team, joint)
            if not _reachable(alone, self.fresh, len(team) - alone, seats):
                return False
        topics = [topic(member) for member in team]
        if self.unique is not None:
            alone = unique_topics(topics)
            if not _reachable(alone, self.unique, len(team) - alone, seats):
                return False
        if self.distinct is not None:
            have = len(set(topics))
            return have <= self.distinct <= have + seats
        return True

    def candidates(
        self, team: Sequence[int], network: CoauthorNetwork, subjects: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Of everybody, by row: would the team with this newcomer still be ``in_reach``?

        Only co-authors of members are looked at one by one. Of all the others those with the
        same main topic are alike, and so are those with a topic that no member has.

        Args:
            team: rows of the members.
            network: joint papers as of now.
            subjects: everybody's main topic as a number.

        Returns:
            One truth value per row, false for the members.
        """

        def fits(row: int) -> bool:
            return self.in_reach([*team, row], network.joint, subjects.__getitem__)

        found = np.zeros(len(subjects), dtype=bool)
        strangers = np.ones(len(subjects), dtype=bool)
        tied = np.unique(np.concatenate([network.row(member)[0] for member in team]))
        strangers[tied] = strangers[list(team)] = False
        held = np.unique(subjects[list(team)])
        alike = [strangers & (subjects == subject) for subject in held]
        for group in (*alike, strangers & ~np.isin(subjects, held)):
            first = int(group.argmax())
            if group[first]:
                found[group] = fits(first)
        for row in np.setdiff1d(tied, list(team)).tolist():
            found[row] = fits(row)
        return found
