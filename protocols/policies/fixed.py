"""A selection policy that draws from stated people only."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.random import Generator
from pydantic import Field

from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.formation.world_view import WorldView


class FixedTeam(SelectionPolicy):
    """Given scientists and nobody else, with equal probability.

    ``founding.leaders: {use: named, people: [...]}`` states the leader too.
    """

    people: tuple[str, ...] = Field(min_length=1)
    """Masked names, such as ``[Scientist3, Scientist17]``."""

    def choose(
        self, members: Sequence[int], excluded: AbstractSet[int], world: WorldView, rng: Generator
    ) -> int | None:
        """Draw one of the given people who is not excluded."""
        free = [row for row in self._rows(world) if row not in excluded]
        return free[int(rng.integers(len(free)))] if free else None

    def probabilities(
        self, members: Sequence[int], candidates: Sequence[int], world: WorldView
    ) -> np.ndarray:
        """One for the stated people, zero for all others."""
        return np.isin(np.asarray(candidates), self._rows(world)).astype(float)

    def _rows(self, world: WorldView) -> list[int]:
        return world.rows_of(self.people, "protocol.selection.people")
