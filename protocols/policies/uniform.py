"""A selection policy that draws anybody with the same probability."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.random import Generator

from virsci_society.protocols.policies.coauthorship import Coauthorship, Share
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.population.network import CoauthorNetwork


class Uniform(SelectionPolicy):
    """Anybody, with equal probability: the control."""

    def draw(
        self, leader: int, excluded: AbstractSet[int], network: CoauthorNetwork, rng: Generator
    ) -> int | None:
        """Draw one scientist who is not excluded, uniformly."""
        return _ANYBODY.draw(leader, excluded, network, rng)

    def weights(
        self, leader: int, candidates: Sequence[int], network: CoauthorNetwork
    ) -> np.ndarray:
        """One for every candidate."""
        return np.ones(len(candidates))


# With a share of 1 no past is looked at.
_ANYBODY = Coauthorship(explore=Share(mass=1.0))
