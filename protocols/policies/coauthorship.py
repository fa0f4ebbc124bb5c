"""Selection by joint papers, with an exploring part so that strangers are asked too.

This is the rule of VirSci and its variants: ``HalfNormal`` and ``Share`` are two other ways to
explore. Draws are exact and take O(degree): a mixture of the sparse row and a uniform part, with
rejection of those who may not be asked.
"""

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
"""Truncation of the increments; |N(1,1)| lies above it once in 3.5 million draws."""


class HalfNormal(Part):
    """e_ij = |N(1,1)| per pair, fixed for the run, truncated at 6 (VirSci, appendix D.4).

    Drawn by hashing seed and pair, never stored.
    """

    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    """Of the increments; null: the seed of the run. Source: follows `seed`."""

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
    """Probability of a uniform draw from everybody, drawn again where somebody may not be asked.
    Unit: probability. Source: assumed."""


Explore = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)] | HalfNormal | Share
"""What a scenario may say after ``explore``."""

_ROUNDS = 64
"""Rounds of rejection before everybody who is left is listed."""


class Coauthorship(SelectionPolicy):
    """P_ij = (A_ij + g C_ij + e) / sum_j (A_ij + g C_ij + e), with g = 0 the rule of VirSci (3.2).

    A_ij counts the joint papers as of the date, C_ij the times that i has consulted j. Drawn as a
    mixture of the sparse rows and the uniform part in O(degree), which is exact; people who may
    not be asked are rejected.
    """

    explore: Explore = 1.0
    """e: a number per entry, ``{use: half_normal}`` or ``{use: share, mass: ...}``. Unit: joint
    papers. Source: VirSci, appendix D.4 (1 is added)."""
    guests: float = Field(default=0.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """g: joint papers that one consultation weighs as much as, from the moment after the end of the
    team in which the leader asked, leading it or not. Assumed; 0 is the paper's rule. Unit: joint
    papers per consultation. Source: assumed; VirSci seats no guest later."""

    def draw(
        self, leader: int, excluded: AbstractSet[int], network: CoauthorNetwork, rng: Generator
    ) -> int | None:
        """Draw one from the row of the leader without the excluded, by rejection."""
        n = network.size
        if len(excluded) >= n:
            return None
        looks_back, thinned = self._modes
        known = network.strength(leader) if looks_back else 0
        asked = network.consultations.total(leader) if self.guests and looks_back else 0
        past = known + self.guests * asked
        mass, random, tries = past + self._uniform_mass(n, past), rng.random, 0
        # Four times as many as a uniform draw needs on average: the exact draw costs O(people).
        while tries < _ROUNDS or tries < 4 * n // (n - len(excluded)):
            tries += 1
            if (point := random() * mass) < known:
                candidate = network.partner_at(leader, int(random() * known))
            elif point < past:
                candidate = network.consultations.guest_at(leader, int(random() * asked))
            else:
                candidate = int(rng.integers(n))
                # Uniform draws stand for the largest increment: smaller ones reject their share.
                if thinned and self._rejects(leader, candidate, rng):
                    continue
            if candidate not in excluded:
                return candidate
        return self._draw_exactly(leader, excluded, network, rng)

    def weights(
        self, leader: int, candidates: Sequence[int], network: CoauthorNetwork
    ) -> np.ndarray:
        """A_ij + g C_ij + e_ij of the candidates."""
        past = network.joint_papers_with(leader, candidates).astype(float)
        if self.guests:
            past += self.guests * network.consultations.counts(leader, candidates)
        if isinstance(self.explore, HalfNormal):
            return past + [self.explore.entry(leader, other) for other in candidates]
        looks_back, _ = self._modes
        whole = network.strength(leader) + self.guests * network.consultations.total(leader)
        mass = self._uniform_mass(network.size, whole if looks_back else 0)
        return past * looks_back + mass / network.size

    def of_run(self, seed: int) -> SelectionPolicy:
        """The policy with the increments of this run, drawn by its seed."""
        if not isinstance(self.explore, HalfNormal) or self.explore.seed is not None:
            return self
        return self.model_copy(update={"explore": HalfNormal(seed=seed)})

    @cached_property
    def _modes(self) -> tuple[bool, bool]:
        """Are joint papers looked at, and are uniform draws thinned? Cached: every draw asks."""
        explores = isinstance(self.explore, Share) and self.explore.mass == 1
        return not explores, isinstance(self.explore, HalfNormal)

    def _uniform_mass(self, n: int, past: float) -> float:
        if isinstance(self.explore, float):
            return self.explore * n
        if isinstance(self.explore, Share):
            mass = self.explore.mass
            return float(n) if past == 0 else past * mass / (1 - mass)
        return HALF_NORMAL_LIMIT * n

    def _rejects(self, leader: int, candidate: int, rng: Generator) -> bool:
        """Reject a uniform draw so that the half-normal increments remain (thinning)."""
        if not isinstance(self.explore, HalfNormal):
            return False
        return bool(rng.random() * HALF_NORMAL_LIMIT >= self.explore.entry(leader, candidate))

    def _draw_exactly(
        self, leader: int, excluded: AbstractSet[int], network: CoauthorNetwork, rng: Generator
    ) -> int | None:
        """Draw from the same distribution over those who are left, who are few."""

        def weights(rows: IntArray) -> FloatArray:
            return self.weights(leader, rows.tolist(), network)

        return sample_exactly(weights, network.size, excluded, rng)
