"""Selection by joint papers, with an exploring part so that strangers are asked too."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.random import Generator
from pydantic import Field

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.config import Part
from virsci_society.society.formation.sampling import sample_exactly
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.population.network import CoauthorNetwork

HALF_NORMAL_LIMIT = 6.0
"""Truncation of the increments; |N(1,1)| exceeds it once in 3.5 million draws."""


class HalfNormal(Part):
    """e_ij = |N(1,1)| per pair, fixed for the run, truncated at 6 (VirSci, appendix D.4)."""

    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    """Seed of the increments; null: the run's."""

    def entry(self, i: int, j: int) -> float:
        """The increment of a pair of rows, the same in both directions."""
        rng = Streams(self.seed or 0).stream("explore", min(i, j), max(i, j))
        # Drawn again and not cut off, so that the density below the limit keeps its shape.
        while (value := abs(1.0 + float(rng.standard_normal()))) > HALF_NORMAL_LIMIT:
            pass
        return value


class Share(Part):
    """A total exploring mass per row: uniform with this probability, else by joint papers."""

    mass: float = Field(default=0.2, gt=0, le=1)
    """Probability of a uniform draw from everybody. Unit: probability."""


Explore = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)] | HalfNormal | Share
"""What a scenario may say after ``explore``."""

_ROUNDS = 64
"""Rounds of rejection sampling before all remaining people are listed."""


class Coauthorship(SelectionPolicy):
    """P_ij = (A_ij + e) / sum_j (A_ij + e), the rule of VirSci (3.2).

    A_ij counts the joint papers as of the date.
    """

    explore: Explore = 1.0
    """Added to each count of joint papers: a number or a rule. Unit: joint papers. Source: VirSci,
    appendix D.4: 1."""

    def draw(
        self, leader: int, excluded: AbstractSet[int], network: CoauthorNetwork, rng: Generator
    ) -> int | None:
        """Draw one from the row of the leader without the excluded, by rejection."""
        n = network.size
        if len(excluded) >= n:
            return None
        looks_back, increments = self._modes
        strength = network.strength(leader) if looks_back else 0
        mass, random, tries = strength + self._uniform_mass(n, strength), rng.random, 0
        # Four times the average need of a uniform draw: the exact draw costs O(people).
        while tries < _ROUNDS or tries < 4 * n // (n - len(excluded)):
            tries += 1
            if random() * mass < strength:
                candidate = network.partner_at(leader, int(random() * strength))
            else:
                candidate = int(rng.integers(n))
                # Uniform draws assume the largest increment: smaller ones reject their share.
                if increments is not None:
                    limit = increments.entry(leader, candidate)
                    if random() * HALF_NORMAL_LIMIT >= limit:
                        continue
            if candidate not in excluded:
                return candidate
        return self._draw_exactly(leader, excluded, network, rng)

    def weights(
        self, leader: int, candidates: Sequence[int], network: CoauthorNetwork
    ) -> np.ndarray:
        """A_ij + e_ij of the candidates."""
        past = network.joint_papers_with(leader, candidates).astype(float)
        if isinstance(self.explore, HalfNormal):
            return past + [self.explore.entry(leader, other) for other in candidates]
        looks_back, _ = self._modes
        mass = self._uniform_mass(network.size, network.strength(leader) if looks_back else 0)
        return past * looks_back + mass / network.size

    def of_run(self, seed: int) -> SelectionPolicy:
        """The policy with the increments of this run, drawn by its seed."""
        if not isinstance(self.explore, HalfNormal) or self.explore.seed is not None:
            return self
        return self.model_copy(update={"explore": HalfNormal(seed=seed)})

    @cached_property
    def _modes(self) -> tuple[bool, HalfNormal | None]:
        """Are joint papers looked at, and what thins uniform draws? Cached: every draw asks."""
        explores = isinstance(self.explore, Share) and self.explore.mass == 1
        return not explores, self.explore if isinstance(self.explore, HalfNormal) else None

    def _uniform_mass(self, n: int, past: float) -> float:
        if isinstance(self.explore, float):
            return self.explore * n
        if isinstance(self.explore, Share):
            mass = self.explore.mass
            return float(n) if past == 0 else past * mass / (1 - mass)
        return HALF_NORMAL_LIMIT * n

    def _draw_exactly(
        self, leader: int, excluded: AbstractSet[int], network: CoauthorNetwork, rng: Generator
    ) -> int | None:
        """Draw from the same distribution over those who are left, who are few."""

        def weights(rows: IntArray) -> FloatArray:
            return self.weights(leader, rows.tolist(), network)

        return sample_exactly(weights, network.size, excluded, rng)
