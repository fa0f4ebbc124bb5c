"""A selection policy of triadic closure, which draws co-authors of co-authors."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.random import Generator
from pydantic import Field

from virsci_society.agents.arrays import IntArray
from virsci_society.society.formation.sampling import sample_by_rejection
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.population.network import CoauthorNetwork


class TwoStep(SelectionPolicy):
    """Co-authors of co-authors, by the number of shared co-authors, sometimes anybody.

    P_ij = x / n + (1 - x) paths_ij / sum_j paths_ij, where paths_ij counts the co-authors that i
    and j share, for those j with whom i has not written; everybody alike where i has no such j.
    Triadic closure as in Davidsen, Ebel and Bornholdt, Physical Review Letters 88:128701 (2002).
    """

    explore: float = Field(default=0.1, ge=0, le=1)
    """Probability of a draw from everybody. Unit: probability. Source: triadic closure: Davidsen,
    Ebel and Bornholdt 2002."""

    def draw(
        self, leader: int, excluded: AbstractSet[int], network: CoauthorNetwork, rng: Generator
    ) -> int | None:
        """Draw one co-author of a co-author, by the number of co-authors in common."""
        people, ends = network.size, coauthors_of_coauthors(leader, network)

        def propose() -> int:
            if len(ends) and rng.random() >= self.explore:
                return int(ends[rng.integers(len(ends))])
            return int(rng.integers(people))

        def weights(rows: IntArray) -> np.ndarray:
            return self._probabilities(ends, rows, people)

        # Nobody is left at an end of two steps, and anybody is never drawn.
        if not self.explore and len(ends) and excluded >= {*ends.tolist()}:
            return None
        return sample_by_rejection(propose, weights, people, excluded, rng)

    def weights(
        self, leader: int, candidates: Sequence[int], network: CoauthorNetwork
    ) -> np.ndarray:
        """P_ij of the candidates."""
        return self._probabilities(
            coauthors_of_coauthors(leader, network), np.asarray(candidates), network.size
        )

    def _probabilities(self, ends: IntArray, rows: IntArray, people: int) -> np.ndarray:
        if not len(ends):
            return np.full(len(rows), 1 / people)
        reached, counts = np.unique(ends, return_counts=True)
        # A row above all ends is compared with the last of them, which it cannot equal.
        indices = np.minimum(np.searchsorted(reached, rows), len(reached) - 1)
        shared = np.where(reached[indices] == rows, counts[indices], 0)
        return self.explore / people + (1 - self.explore) * shared / len(ends)


def coauthors_of_coauthors(i: int, network: CoauthorNetwork) -> IntArray:
    """Rows of those with whom ``i`` shares co-authors but has not written."""
    partners = network.coauthors(i)[0]
    if not len(partners):
        return np.zeros(0, dtype=np.int64)
    ends = np.concatenate([network.coauthors(row)[0] for row in partners.tolist()]).astype(np.int64)
    return ends[~np.isin(ends, np.append(partners, i))]
