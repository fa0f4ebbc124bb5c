"""Neighbours: those whom one's co-authors have written with."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
import numpy.typing as npt
from pydantic import Field

from society.drawing import draw
from society.interfaces import SelectionPolicy
from society.network import CoauthorNetwork

Rows = npt.NDArray[np.int64]


class TwoStep(SelectionPolicy):
    """Co-authors of co-authors, by the number of co-authors in common; now and then anybody.

    P_ij = x / n + (1 - x) paths_ij / sum_j paths_ij, where paths_ij counts the co-authors that i
    and j share, for those j with whom i has not written; everybody alike where i has no such j.
    Triadic closure as in Davidsen, Ebel and Bornholdt, Physical Review Letters 88:128701 (2002).
    """

    explore: float = Field(default=0.1, ge=0, le=1)
    """x: probability of a draw from everybody."""

    def draw(
        self,
        leader: int,
        excluded: AbstractSet[int],
        network: CoauthorNetwork,
        rng: np.random.Generator,
    ) -> int | None:
        """One draw from the paths of the leader, in proportion to their number."""
        people, ends = network.size, paths(leader, network)

        def propose() -> int:
            if len(ends) and rng.random() >= self.explore:
                return int(ends[rng.integers(len(ends))])
            return int(rng.integers(people))

        def weights(rows: Rows) -> np.ndarray:
            return self._of(ends, rows, people)

        if not self.explore and len(ends) and excluded >= {*ends.tolist()}:
            return None
        return draw(propose, weights, people, excluded, rng)

    def weights(
        self, leader: int, candidates: Sequence[int], network: CoauthorNetwork
    ) -> np.ndarray:
        """P_ij of the candidates."""
        return self._of(paths(leader, network), np.asarray(candidates), network.size)

    def _of(self, ends: Rows, rows: Rows, people: int) -> np.ndarray:
        if not len(ends):
            return np.full(len(rows), 1 / people)
        found, counts = np.unique(ends, return_counts=True)
        places = np.minimum(np.searchsorted(found, rows), len(found) - 1)
        shared = np.where(found[places] == rows, counts[places], 0)
        return self.explore / people + (1 - self.explore) * shared / len(ends)


def paths(i: int, network: CoauthorNetwork) -> Rows:
    """Where the paths of two steps from ``i`` end that lead to nobody it has written with.

    Somebody with whom it shares three co-authors stands there three times.
    """
    near = network.row(i)[0]
    if not len(near):
        return np.zeros(0, dtype=np.int64)
    ends = np.concatenate([network.row(one)[0] for one in near.tolist()]).astype(np.int64)
    return ends[~np.isin(ends, np.append(near, i))]
