"""Selection policies: whom a leader asks next. Each is one definition and one way to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from agents.part import Part
from society.interfaces import SelectionPolicy
from society.network import CoauthorNetwork
from society.streams import Streams

_HALF_NORMAL_LIMIT = 6.0


class HalfNormal(Part):
    """e_ij = |N(1,1)| per pair, fixed for the run, truncated at 6 (VirSci, appendix D.4).

    Drawn by hashing seed and pair, never stored.
    """

    seed: int | None = None
    """Of the increments; null: the seed of the run."""

    def entry(self, i: int, j: int) -> float:
        """The increment of the pair, the same in both directions."""
        rng = Streams(self.seed or 0).stream("explore", min(i, j), max(i, j))
        while (value := abs(1.0 + float(rng.standard_normal()))) > _HALF_NORMAL_LIMIT:
            pass
        return value


class Share(Part):
    """A total exploring mass per row: uniform with this probability, else by joint papers."""

    mass: float = Field(default=0.2, gt=0, le=1)
    """Probability of a uniform draw from everybody, drawn again where somebody may not be asked."""


Explore = Annotated[float, Field(gt=0, allow_inf_nan=False)] | HalfNormal | Share


class Coauthorship(SelectionPolicy):
    """P_ij = (A_ij + e) / sum_j (A_ij + e), the rule of VirSci (section 3.2).

    A_ij counts the joint papers as of the date. Drawn as a mixture of the sparse row and the
    uniform part in O(degree), which is exact; people who may not be asked are rejected.
    """

    explore: Explore = 1.0
    """e: a number per entry, ``{use: half_normal}`` or ``{use: share, mass: ...}``."""

    def draw(
        self,
        leader: int,
        excluded: frozenset[int],
        network: CoauthorNetwork,
        rng: np.random.Generator,
    ) -> int | None:
        """One draw from the row of the leader without the excluded, by rejection."""
        n = network.size
        if len(excluded) >= n:
            return None
        partners, counts = network.row(leader)
        cumulated = np.cumsum(counts, dtype=float)
        known = float(cumulated[-1]) if len(cumulated) and self._looks_back else 0.0
        uniform = self._uniform_mass(n, known)
        for _ in range(max(64, 4 * n // (n - len(excluded)))):
            if rng.random() * (known + uniform) < known:
                place = int(np.searchsorted(cumulated, rng.random() * known, side="right"))
                candidate = int(partners[place])
            else:
                candidate = int(rng.integers(n))
                if self._refuses(leader, candidate, rng):
                    continue
            if candidate not in excluded:
                return candidate
        return self._draw_densely(leader, excluded, network, rng)

    def weights(
        self, leader: int, candidates: Sequence[int], network: CoauthorNetwork
    ) -> np.ndarray:
        """A_ij + e_ij for the candidates."""
        joint = np.array([network.joint(leader, other) for other in candidates], dtype=float)
        if isinstance(self.explore, HalfNormal):
            return joint + [self.explore.entry(leader, other) for other in candidates]
        known = float(network.row(leader)[1].sum()) if self._looks_back else 0.0
        return joint * self._looks_back + self._uniform_mass(network.size, known) / network.size

    def of_run(self, seed: int) -> SelectionPolicy:
        """The policy with the increments of this run."""
        if not isinstance(self.explore, HalfNormal) or self.explore.seed is not None:
            return self
        return self.model_copy(update={"explore": HalfNormal(seed=seed)})

    @property
    def _looks_back(self) -> bool:
        """False where the whole mass explores."""
        return not (isinstance(self.explore, Share) and self.explore.mass == 1)

    def _uniform_mass(self, n: int, known: float) -> float:
        if isinstance(self.explore, HalfNormal):
            return _HALF_NORMAL_LIMIT * n
        if isinstance(self.explore, Share):
            mass = self.explore.mass
            return float(n) if known == 0 else known * mass / (1 - mass)
        return self.explore * n

    def _refuses(self, leader: int, candidate: int, rng: np.random.Generator) -> bool:
        """Thin the uniform envelope of the half-normal increments."""
        if not isinstance(self.explore, HalfNormal):
            return False
        return bool(rng.random() * _HALF_NORMAL_LIMIT >= self.explore.entry(leader, candidate))

    def _draw_densely(
        self,
        leader: int,
        excluded: frozenset[int],
        network: CoauthorNetwork,
        rng: np.random.Generator,
    ) -> int | None:
        """The same distribution over the few who are left."""
        candidates = [other for other in range(network.size) if other not in excluded]
        if not candidates:
            return None
        weights = self.weights(leader, candidates, network)
        return candidates[int(rng.choice(len(candidates), p=weights / weights.sum()))]


class Uniform(SelectionPolicy):
    """Anybody, with equal probability: the control that knows no past."""

    def draw(
        self,
        leader: int,
        excluded: frozenset[int],
        network: CoauthorNetwork,
        rng: np.random.Generator,
    ) -> int | None:
        """One scientist who is not excluded, uniformly."""
        return Coauthorship(explore=Share(mass=1.0)).draw(leader, excluded, network, rng)

    def weights(
        self, leader: int, candidates: Sequence[int], network: CoauthorNetwork
    ) -> np.ndarray:
        """One for everybody."""
        return np.ones(len(candidates))
