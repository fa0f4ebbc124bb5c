"""Research groups, that is a senior scientist and the juniors who came to work with it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np
from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.society.formation.world_view import PapersView
from virsci_society.society.kernel.durations import Days
from virsci_society.society.literature.papers import DAYS_PER_YEAR


class ResearchGroups(Part):
    """Leaders ask juniors of their own group first (this project).

    The group of a leader are the newcomers who came with it as their mentor and have been there
    for less than ``stay``. It goes with ``newcomers``, whose mentor then is the leader.
    """

    share: float = Field(default=0.5, ge=0, le=1)
    """Probability that a seat is offered to the group, where somebody of it is free."""
    stay: Days = Field(default=4 * DAYS_PER_YEAR, gt=0)
    """How long a junior belongs to the group of its mentor."""

    def choose(
        self,
        leader: int,
        excluded: AbstractSet[int],
        world: PapersView,
        rng: np.random.Generator,
    ) -> int | None:
        """Draw a junior of the leader's group, everybody with equal probability.

        Args:
            leader: row.
            excluded: rows that may not be drawn.
            world: as of now.
            rng: the random stream of the seat.

        Returns:
            A row; None where the seat is not offered to the group, or nobody of it is free.
        """
        if not rng.random() < self.share:
            return None
        since = world.day - self.stay
        free = [
            row
            for came, row in world.mentees.get(leader, ())
            if since < came < world.day and row not in excluded
        ]
        return free[int(rng.integers(len(free)))] if free else None
