"""Guimera: teams of newcomers and incumbents, some of whom have worked together before."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

import numpy as np
from pydantic import Field

from society.drawing import Weights
from society.durations import Days
from society.incumbents import Incumbents
from society.interfaces import SelectionPolicy
from society.surroundings import Surroundings


class Guimera(SelectionPolicy):
    """Team assembly after Guimera, Uzzi, Spiro and Amaral, Science 308:697 (2005).

    Each member is an incumbent with probability p, else a newcomer. Where the team has an
    incumbent already, an incumbent is with probability q a co-author of one of them, each alike;
    else anybody of the incumbents. Who has been inactive for longer than tau is gone. m is the
    ``team_size`` of the protocol, and with ``founding.leaders: selection`` the leader is drawn in
    the same way. Where there is no incumbent to be had (at the start) a newcomer is taken; where
    the newcomers have run out the seat stays empty, so give a pool that is large enough.
    """

    p: float = Field(default=0.5, ge=0, le=1)
    """Probability that a member is an incumbent."""
    q: float = Field(default=0.5, ge=0, le=1)
    """Probability that an incumbent is a former co-author of an incumbent in the team."""
    inactivity: Days | None = Field(default=None, gt=0)
    """tau: without a paper for longer than this nobody is drawn any more; null: no such limit."""
    incumbents: Literal["society", "ever"] = "society"
    """Those with a paper in this society, or also those with one before day 0."""

    def choose(
        self,
        members: Sequence[int],
        excluded: AbstractSet[int],
        world: Surroundings,
        rng: np.random.Generator,
    ) -> int | None:
        """An incumbent or a newcomer."""
        incumbents = Incumbents(world, self.inactivity, self.incumbents == "ever")
        if rng.random() < self.p:
            row = self._incumbent(incumbents, members, excluded, world, rng)
            if row is not None:
                return row
        return incumbents.newcomer(excluded, rng)

    def chances(
        self, members: Sequence[int], candidates: Sequence[int], world: Surroundings
    ) -> np.ndarray:
        """The probabilities of these candidates if nobody else may be drawn."""
        incumbents = Incumbents(world, self.inactivity, self.incumbents == "ever")
        known = _shares([incumbents.holds(row) for row in candidates])
        new = _shares([incumbents.new(row) for row in candidates])
        if not known.any():
            return new
        inside = [one for one in members if incumbents.holds(one)]
        again = [self._again(one, candidates, known, world) for one in inside]
        repeated = np.mean(again, axis=0) if again else known
        return self.p * (self.q * repeated + (1 - self.q) * known) + (1 - self.p) * new

    def _incumbent(
        self,
        incumbents: Incumbents,
        members: Sequence[int],
        excluded: AbstractSet[int],
        world: Surroundings,
        rng: np.random.Generator,
    ) -> int | None:
        """A former co-author of an incumbent in the team, or any incumbent; None without one."""
        inside = [row for row in members if incumbents.holds(row)]
        if inside and rng.random() < self.q:
            one = inside[int(rng.integers(len(inside)))]
            partners = [
                row
                for row in world.network.row(one)[0].tolist()
                if row not in excluded and incumbents.holds(row)
            ]
            if partners:
                found: int = partners[int(rng.integers(len(partners)))]
                return found
        return incumbents.draw(excluded, rng)

    @staticmethod
    def _again(
        one: int, candidates: Sequence[int], known: np.ndarray, world: Surroundings
    ) -> np.ndarray:
        """The shares of the incumbents who have written with one; of all where there is none."""
        partners = _shares((world.network.joints(one, candidates) > 0) & (known > 0))
        return partners if partners.any() else known


def _shares(chosen: Sequence[bool] | np.ndarray) -> Weights:
    """The same share for each of those chosen, adding up to one; zeros where none is."""
    shares: Weights = np.asarray(chosen, dtype=float)
    return shares / max(1.0, float(shares.sum()))
