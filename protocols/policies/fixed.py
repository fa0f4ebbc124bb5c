"""Fixed: a team that is stated beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from pydantic import Field

from society.interfaces import SelectionPolicy
from society.surroundings import Surroundings


class Fixed(SelectionPolicy):
    """Stated people and nobody else, with equal probability (this project: for controlled teams).

    ``founding.leaders: {use: named, people: [...]}`` states the leader too.
    """

    people: tuple[str, ...] = Field(min_length=1)
    """Masked names, such as ``[Scientist3, Scientist17]``."""

    def choose(
        self,
        members: Sequence[int],
        excluded: AbstractSet[int],
        world: Surroundings,
        rng: np.random.Generator,
    ) -> int | None:
        """One of them who is not excluded."""
        left = [row for row in self._rows(world) if row not in excluded]
        return left[int(rng.integers(len(left)))] if left else None

    def chances(
        self, members: Sequence[int], candidates: Sequence[int], world: Surroundings
    ) -> np.ndarray:
        """One for those stated, nothing for all others."""
        return np.isin(np.asarray(candidates), self._rows(world)).astype(float)

    def _rows(self, world: Surroundings) -> list[int]:
        return world.rows_of(self.people, "protocol.selection.people")
