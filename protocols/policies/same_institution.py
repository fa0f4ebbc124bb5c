"""A selection policy by which people of the leader's own institution are asked first."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from pydantic import Field

from virsci_society.protocols.policies.coauthorship import Coauthorship
from virsci_society.society.careers import institution_of
from virsci_society.society.formation.selection import SelectionPolicy

if TYPE_CHECKING:
    from virsci_society.society.formation.world_view import WorldView


class SameInstitution(SelectionPolicy):
    """With probability ``share`` from the leader's institution, by another policy.

    Where nobody of it is left, and otherwise, the other policy draws among everybody.
    """

    share: float = Field(default=0.8, ge=0, le=1)
    """Probability that only the leader's institution is asked. Unit: probability."""
    among: SelectionPolicy = Field(default_factory=Coauthorship)
    """Policy of the draw."""

    def of_run(self, seed: int) -> SelectionPolicy:
        """The same with the inner policy as it holds in a run of this seed."""
        return self.model_copy(update={"among": self.among.of_run(seed)})

    def choose(
        self, members: Sequence[int], excluded: AbstractSet[int], world: WorldView, rng: Generator
    ) -> int | None:
        """Draw one of the leader's institution, or anybody."""
        local = bool(members) and rng.random() < self.share
        if local and (others := self._elsewhere(members[0], world)) is not None:
            chosen = self.among.choose(members, {*excluded, *others}, world, rng)
            if chosen is not None:
                return chosen
        return self.among.choose(members, excluded, world, rng)

    def probabilities(
        self, members: Sequence[int], candidates: Sequence[int], world: WorldView
    ) -> np.ndarray:
        """A mixture of the inner policy among the candidates of the institution, and among all."""
        weights = np.asarray(self.among.probabilities(members, candidates, world), dtype=np.float64)
        everybody = weights / weights.sum() if weights.sum() else weights
        others = self._elsewhere(members[0], world) if members else None
        if others is None:
            return everybody
        near = np.where(np.isin(candidates, sorted(others)), 0.0, weights)
        if not near.sum():
            return everybody
        mixed: np.ndarray = self.share * near / near.sum() + (1.0 - self.share) * everybody
        return mixed

    def _elsewhere(self, leader: int, world: WorldView) -> set[int] | None:
        """Rows of all who work elsewhere; None where the leader's institution is not known."""
        own, rows = institution_of(leader, world), range(len(world.population))
        if own is None:
            return None
        return {row for row in rows if institution_of(row, world) != own}
