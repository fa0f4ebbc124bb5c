"""Targets for the freshness and diversity of a team, to which its leader steers it.

A target is a number of members: those who are fresh (no joint paper with any other member), those
with a main topic of their own, or distinct main topics. While people join, the members who are
*not* fresh, or who *share* their topic, and the distinct topics can only become more. A candidate
is suitable while every target can still be reached with the seats that remain.
"""

from __future__ import annotations

from collections import Counter
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


def unique_topics(topics: Sequence[Hashable]) -> int:
    """Number of members whose main topic nobody else has."""
    return sum(count == 1 for count in Counter(topics).values())


def _can_end_with(target: int, alone: int, together: int, seats: int) -> bool:
    """Can a team still end with ``target`` members who are alone (fresh, or with a unique topic)?

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
    unique: int | None = None

    @classmethod
    def nearest(
        cls, n: int, freshness: float | None, diversity: float | None, variant: str
    ) -> CompositionTargets:
        """The attainable targets nearest to the shares wanted.

        It is never exactly one member who is not fresh, or who shares its topic.

        Args:
            freshness: share of fresh members, 0 to 1, or None.
            diversity: distinct topics / n, or share of unique ones, 0 to 1, or None.
        """
        alone = [count for count in range(n + 1) if count != n - 1 or n == 1]
        fresh = distinct = unique = None
        if freshness is not None:
            fresh = n if n == 1 else nearest_attainable(freshness, n, alone)
        if diversity is not None and variant == "distinct":
            distinct = nearest_attainable(diversity, n, range(1, n + 1))
        elif diversity is not None:
            unique = n if n == 1 else nearest_attainable(diversity, n, alone)
        return cls(n, fresh, distinct, unique)

    @property
    def are_set(self) -> bool:
        """True if anything is wanted."""
        return not self.fresh is self.distinct is self.unique is None

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
        topics = [topic(member) for member in team]
        if self.unique is not None:
            alone = unique_topics(topics)
            if not _can_end_with(self.unique, alone, len(team) - alone, seats):
                return False
        if self.distinct is not None:
            have = len(set(topics))
            return have <= self.distinct <= have + seats
        return True

    def suitable_rows(
        self, team: Sequence[int], network: CoauthorNetwork, subjects: IntArray
    ) -> BoolArray:
        """Of every row: would the team with this newcomer keep every target reachable?

        Only co-authors of members are looked at one by one. Of all the others those with the
        same main topic are alike, and so are those with a topic that no member has. Topics are
        numbers, one per row; the members themselves are not suitable.
        """

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
