"""Teams that write again, that is a new team made of the authors of an earlier paper."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np
from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.society.formation.world_view import PapersView
from virsci_society.society.kernel.durations import Days
from virsci_society.society.literature.papers import DAYS_PER_YEAR


class RepeatedTeams(Part):
    """A share of the teams begins with co-authors of a recent paper of the leader.

    The size of such a team is that of the earlier paper; the seats of those who do not stay are
    filled as in every other team.
    """

    share: float = Field(default=0.3, ge=0, le=1)
    """Probability that a team repeats one, where the leader has a paper within ``within``."""
    stay: float = Field(default=0.6, ge=0, le=1)
    """Probability that a co-author of the earlier paper stays."""
    within: Days = Field(default=3 * DAYS_PER_YEAR, gt=0)
    """Papers that are older are not repeated."""

    def earlier_team(
        self, leader: int, world: PapersView, rng: np.random.Generator
    ) -> tuple[int, ...] | None:
        """Draw the paper whose team is repeated.

        Args:
            leader: row.
            world: as of now.
            rng: the random stream of this draw.

        Returns:
            The rows of its authors without the leader, in author order; None: no team is repeated.
        """
        if not rng.random() < self.share:
            return None
        history, since = world.history, world.day - self.within
        recent = [paper for paper in history.papers_of(leader) if history.date_of(paper) >= since]
        if not recent:
            return None
        paper = recent[int(rng.integers(len(recent)))]
        return tuple(row for row in history.authors_of(paper) if row != leader)

    def staying(
        self, others: tuple[int, ...], excluded: AbstractSet[int], rng: np.random.Generator
    ) -> list[int]:
        """Draw who of an earlier team stays.

        Args:
            others: rows of its authors without the leader.
            excluded: rows that may not be drawn.
            rng: the random stream of this draw.
        """
        stays = rng.random(len(others)) < self.stay
        return [
            row for row, stay in zip(others, stays, strict=True) if stay and row not in excluded
        ]
