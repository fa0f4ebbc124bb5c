"""Uniform: anybody."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from protocols.policies.coauthorship import Coauthorship, Rows
from protocols.policies.explore import Share
from society.interfaces import SelectionPolicy
from society.network import CoauthorNetwork


class Uniform(SelectionPolicy):
    """Anybody, with equal probability: the control that knows no past."""

    def draw(
        self,
        leader: int,
        excluded: AbstractSet[int],
        network: CoauthorNetwork,
        rng: np.random.Generator,
    ) -> int | None:
        """One scientist who is not excluded, uniformly."""
        return _ANYBODY.draw(leader, excluded, network, rng)

    def draws(
        self,
        leaders: Rows,
        excluded: AbstractSet[int],
        network: CoauthorNetwork,
        rng: np.random.Generator,
    ) -> Rows:
        """A draw for each of many leaders, as ``Coauthorship.draws``."""
        return _ANYBODY.draws(leaders, excluded, network, rng)

    def weights(
        self, leader: int, candidates: Sequence[int], network: CoauthorNetwork
    ) -> np.ndarray:
        """One for everybody."""
        return np.ones(len(candidates))


_ANYBODY = Coauthorship(explore=Share(mass=1.0))
