"""Coauthorship: whom one has written with, and now and then anybody."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

import numpy as np
import numpy.typing as npt
from pydantic import Field

from protocols.policies.explore import HALF_NORMAL_LIMIT, Explore, HalfNormal, Share
from society.drawing import draw_densely
from society.interfaces import SelectionPolicy
from society.network import CoauthorNetwork

Rows = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]

_ROUNDS = 64


class Coauthorship(SelectionPolicy):
    """P_ij = (A_ij + g C_ij + e) / sum_j (A_ij + g C_ij + e), with g = 0 the rule of VirSci (3.2).

    A_ij counts the joint papers as of the date, C_ij the times that i has consulted j. Drawn as a
    mixture of the sparse rows and the uniform part in O(degree), which is exact; people who may
    not be asked are rejected.
    """

    explore: Explore = 1.0
    """e: a number per entry, ``{use: half_normal}`` or ``{use: share, mass: ...}``."""
    guests: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """g: joint papers that one consultation weighs as much as, from the moment after the end of the
    team in which the leader asked, leading it or not. Assumed; 0 is the paper's rule."""

    def draw(
        self,
        leader: int,
        excluded: AbstractSet[int],
        network: CoauthorNetwork,
        rng: np.random.Generator,
    ) -> int | None:
        """One draw from the row of the leader without the excluded, by rejection."""
        n = network.size
        if len(excluded) >= n:
            return None
        looks_back, thinned = self._ways
        known = network.known(leader) if looks_back else 0
        asked = network.consulted.known(leader) if self.guests and looks_back else 0
        past = known + self.guests * asked
        mass, random, tries = past + self._uniform_mass(n, past), rng.random, 0
        while tries < _ROUNDS or tries < 4 * n // (n - len(excluded)):
            tries += 1
            if (drawn := random() * mass) < known:
                candidate = network.partner(leader, int(random() * known))
            elif drawn < past:
                candidate = network.consulted.guest(leader, int(random() * asked))
            else:
                candidate = int(rng.integers(n))
                if thinned and self._refuses(leader, candidate, rng):
                    continue
            if candidate not in excluded:
                return candidate
        return self._draw_densely(leader, excluded, network, rng)

    def draws(
        self,
        leaders: Rows,
        excluded: AbstractSet[int],
        network: CoauthorNetwork,
        rng: np.random.Generator,
    ) -> Rows:
        """A draw for each of many leaders, independent of each other, from one stream.

        Args:
            leaders: rows, which may repeat; each is excluded from its own draw.
            excluded: rows that may not be drawn by anybody.
            network: joint papers as of now.
            rng: the stream of all the draws.

        Returns:
            A row for each leader, -1 where nobody is left.
        """
        closed = np.zeros(network.size, dtype=bool)
        closed[sorted(excluded)] = True
        found = np.full(len(leaders), -1, dtype=np.int64)
        waiting = np.arange(len(leaders))
        for _ in range(_ROUNDS):
            asking = leaders[waiting]
            candidates = self._propose(asking, network, rng)
            drawn = (candidates >= 0) & (candidates != asking) & ~closed[candidates]
            found[waiting[drawn]] = candidates[drawn]
            waiting = waiting[~drawn]
            if not len(waiting):
                return found
        for place in waiting.tolist():
            leader = int(leaders[place])
            one = self.draw(leader, excluded | {leader}, network, rng)
            found[place] = -1 if one is None else one
        return found

    def weights(
        self, leader: int, candidates: Sequence[int], network: CoauthorNetwork
    ) -> np.ndarray:
        """A_ij + g C_ij + e_ij for the candidates."""
        past = network.joints(leader, candidates).astype(float)
        if self.guests:
            past += self.guests * network.consulted.counts(leader, candidates)
        if isinstance(self.explore, HalfNormal):
            return past + [self.explore.entry(leader, other) for other in candidates]
        looks_back, _ = self._ways
        whole = network.known(leader) + self.guests * network.consulted.known(leader)
        mass = self._uniform_mass(network.size, whole if looks_back else 0)
        return past * looks_back + mass / network.size

    def of_run(self, seed: int) -> SelectionPolicy:
        """The policy with the increments of this run."""
        if not isinstance(self.explore, HalfNormal) or self.explore.seed is not None:
            return self
        return self.model_copy(update={"explore": HalfNormal(seed=seed)})

    @cached_property
    def _ways(self) -> tuple[bool, bool]:
        """Does it look back, and are uniform draws thinned? Kept, since every draw asks."""
        explores = isinstance(self.explore, Share) and self.explore.mass == 1
        return not explores, isinstance(self.explore, HalfNormal)

    def _uniform_mass(self, n: int, past: float) -> float:
        if isinstance(self.explore, float):
            return self.explore * n
        if isinstance(self.explore, Share):
            mass = self.explore.mass
            return float(n) if past == 0 else past * mass / (1 - mass)
        return HALF_NORMAL_LIMIT * n

    def _propose(self, leaders: Rows, network: CoauthorNetwork, rng: np.random.Generator) -> Rows:
        """One round of rejection for many leaders: a row, or -1 for a draw that is refused."""
        n, count = network.size, len(leaders)
        looks_back, thinned = self._ways
        known = network.knowns(leaders) if looks_back else np.zeros(count, dtype=np.int64)
        past: Weights = known
        if self.guests and looks_back:
            past = known + self.guests * network.consulted.knowns(leaders)
        if isinstance(self.explore, Share):
            back = (past > 0) & (rng.random(count) >= self.explore.mass)
        else:
            back = rng.random(count) * (past + self._uniform_mass(n, 0.0)) < past
        candidates = rng.integers(n, size=count)
        if thinned:
            for place in np.flatnonzero(~back).tolist():
                if self._refuses(int(leaders[place]), int(candidates[place]), rng):
                    candidates[place] = -1
        if self.guests:
            asked = back & (rng.random(count) * past >= known)
            back &= ~asked
            candidates[asked] = self._guests(leaders[asked], network, rng)
        places = (rng.random(int(back.sum())) * known[back]).astype(np.int64)
        candidates[back] = network.partners(leaders[back], places)
        return candidates

    @staticmethod
    def _guests(leaders: Rows, network: CoauthorNetwork, rng: np.random.Generator) -> Rows:
        """One guest of each of many leaders, who have some."""
        consulted = network.consulted
        places = (rng.random(len(leaders)) * consulted.knowns(leaders)).astype(np.int64)
        pairs = zip(leaders.tolist(), places.tolist(), strict=True)
        return np.fromiter((consulted.guest(*pair) for pair in pairs), np.int64, len(leaders))

    def _refuses(self, leader: int, candidate: int, rng: np.random.Generator) -> bool:
        """Thin the uniform envelope of the half-normal increments."""
        if not isinstance(self.explore, HalfNormal):
            return False
        return bool(rng.random() * HALF_NORMAL_LIMIT >= self.explore.entry(leader, candidate))

    def _draw_densely(
        self,
        leader: int,
        excluded: AbstractSet[int],
        network: CoauthorNetwork,
        rng: np.random.Generator,
    ) -> int | None:
        """The same distribution over those who are left, who are few."""

        def weights(rows: Rows) -> npt.NDArray[np.float64]:
            return self.weights(leader, rows.tolist(), network)

        return draw_densely(weights, network.size, excluded, rng)
