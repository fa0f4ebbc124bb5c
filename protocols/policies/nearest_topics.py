"""A selection policy of topical homophily, which draws the nearest in interests."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.random import Generator
from pydantic import Field

from virsci_society.agents.arrays import IntArray
from virsci_society.society.ecosystem.knowledge_bank import interests_text
from virsci_society.society.formation.sampling import sample_by_rejection
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.formation.world_view import WorldView


class NearestTopics(SelectionPolicy):
    """Uniform among the scientists nearest to the leader by interests, sometimes anybody.

    P_ij = x / n + (1 - x) / k for the k scientists nearest to i by the cosine of their interests
    in the author knowledge bank as of the date, x / n for all others (topical homophily:
    McPherson, Smith-Lovin and Cook, Annual Review of Sociology 27:415, 2001).
    """

    nearest: float = Field(default=0.05, gt=0, le=1)
    """Share of the scientists counted as nearest, at least one. Unit: share. Source: homophily:
    McPherson, Smith-Lovin and Cook 2001."""
    explore: float = Field(default=0.1, ge=0, le=1)
    """Probability of a draw from everybody. Unit: probability."""

    def choose(
        self, members: Sequence[int], excluded: AbstractSet[int], world: WorldView, rng: Generator
    ) -> int | None:
        """Draw one of the nearest to the leader in interests, or anybody."""
        if not members:
            return super().choose(members, excluded, world, rng)
        near, people = self._near(members[0], world), len(world.population)
        free = [row for row in near if row not in excluded]
        # Nobody who is left has a weight, and a draw by rejection would look at everybody.
        if not free and not self.explore:
            return None

        def propose() -> int | None:
            if rng.random() < self.explore:
                return int(rng.integers(people))
            return near[int(rng.integers(len(near)))] if near else None

        def weights(rows: IntArray) -> np.ndarray:
            return self._probabilities(near, rows, people)

        return sample_by_rejection(propose, weights, people, excluded, rng)

    def probabilities(
        self, members: Sequence[int], candidates: Sequence[int], world: WorldView
    ) -> np.ndarray:
        """P_ij of the candidates."""
        if not members:
            return super().probabilities(members, candidates, world)
        near = self._near(members[0], world)
        return self._probabilities(near, np.asarray(candidates), len(world.population))

    def _probabilities(self, near: list[int], rows: IntArray, people: int) -> np.ndarray:
        return self.explore / people + (1 - self.explore) * np.isin(rows, near) / max(1, len(near))

    def _near(self, leader: int, world: WorldView) -> list[int]:
        """Rows of those present who are nearest to the leader by interests; ties by name."""
        name, bank = world.population.names[leader], world.knowledge
        version = bank.visible(world.day)
        text = interests_text(bank.profile(name, version))
        # Profiles of those who have left stay in the bank, for what is read later.
        others = frozenset({name}) | world.population.departed_names()
        profiles = bank.search(
            text, world.population.share_of_present(self.nearest), version, others
        )
        return [world.population.rows[profile.id] for profile in profiles]
