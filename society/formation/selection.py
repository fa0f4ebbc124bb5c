"""The base class of selection policies, which draw whom a leader invites next."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from virsci_society.agents.config import Part
from virsci_society.society.formation.sampling import sample_uniformly

if TYPE_CHECKING:
    from virsci_society.society.formation.world_view import WorldView
    from virsci_society.society.population.network import CoauthorNetwork


class SelectionPolicy(Part):
    """A rule that chooses whom a leader invites next.

    A policy has a definition (weights of candidates) and a draw that follows it. A policy
    that looks only at the leader and the network writes ``weights`` and ``draw``. One that looks
    at the other members, or at anything else in the world, writes ``probabilities`` and ``choose``.

    Example:
        >>> import numpy as np
        >>> class Regulars(vs.SelectionPolicy):
        ...     bonus: float = 10.0
        ...     def weights(self, leader, candidates, network):
        ...         joint = network.joint_papers_with(leader, candidates)
        ...         return np.where(joint >= 2, self.bonus, 1.0)
        >>> weights = Regulars(bonus=5.0).probabilities([0], [1, 2, 3], lab.world)
        >>> set(weights.tolist()) <= {1.0, 5.0}
        True
    """

    def choose(
        self, members: Sequence[int], excluded: AbstractSet[int], world: WorldView, rng: Generator
    ) -> int | None:
        """Draw the row of one scientist for a team; None if no candidate is left.

        Args:
            members: rows of the members, the leader first. It is empty where the leader itself is
                drawn; then everybody has the same probability unless a policy says otherwise.
            excluded: rows that may not be drawn, the members among them.
        """
        if not members:
            return sample_uniformly(len(world.population), excluded, rng)
        return self.draw(members[0], excluded, world.network, rng)

    def probabilities(
        self, members: Sequence[int], candidates: Sequence[int], world: WorldView
    ) -> np.ndarray:
        """The definition of ``choose``: unnormalised probabilities of the rows ``candidates``."""
        if not members:
            return np.ones(len(candidates))
        return self.weights(members[0], candidates, world.network)

    def draw(
        self, leader: int, excluded: AbstractSet[int], network: CoauthorNetwork, rng: Generator
    ) -> int | None:
        """Draw a row by the leader's ties; None if no candidate is left.

        Args:
            leader: row of the leader, always among the excluded.
            excluded: rows that may not be drawn (asked already, members, at their limit,
                out of reach of the team's targets).
        """
        raise NotImplementedError

    def of_run(self, seed: int) -> SelectionPolicy:
        """The policy for a run with this seed, if it draws something once per run."""
        return self

    def weights(
        self, leader: int, candidates: Sequence[int], network: CoauthorNetwork
    ) -> np.ndarray:
        """The definition of ``draw``: unnormalised probabilities (>= 0) of rows ``candidates``."""
        raise NotImplementedError
