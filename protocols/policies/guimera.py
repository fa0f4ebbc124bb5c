"""A selection policy of newcomers and incumbents, after Guimera et al. (2005)."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from virsci_society.agents.arrays import FloatArray
from virsci_society.society.formation.sampling import Incumbents
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.formation.world_view import WorldView
from virsci_society.society.kernel.durations import Days


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
    """Probability that a member is an incumbent. Unit: probability. Source: Guimera et al. 2005
    vary and fit it."""
    q: float = Field(default=0.5, ge=0, le=1)
    """Probability that an incumbent is a former co-author of one in the team. Unit: probability.
    Source: Guimera et al. 2005 vary and fit it."""
    inactivity: Days | None = Field(default=None, gt=0)
    """Time without a paper after which nobody is drawn; null: no limit. Source: tau of Guimera et
    al. 2005."""
    incumbents: Literal["society", "ever"] = "society"
    """Authors of papers in this society, or also of those before day 0. Source: Guimera et al. 2005
    begin without incumbents."""

    def choose(
        self, members: Sequence[int], excluded: AbstractSet[int], world: WorldView, rng: Generator
    ) -> int | None:
        """Draw an incumbent or a newcomer."""
        incumbents = Incumbents(world, self.inactivity, self.incumbents == "ever")
        if rng.random() < self.p:
            row = self._draw_incumbent(incumbents, members, excluded, world, rng)
            if row is not None:
                return row
        return incumbents.sample_newcomer(excluded, rng)

    def probabilities(
        self, members: Sequence[int], candidates: Sequence[int], world: WorldView
    ) -> np.ndarray:
        """Probabilities of the candidates if nobody else may be drawn."""
        incumbents = Incumbents(world, self.inactivity, self.incumbents == "ever")
        incumbent_shares = _shares([incumbents.is_incumbent(row) for row in candidates])
        new = _shares([incumbents.is_newcomer(row) for row in candidates])
        if not incumbent_shares.any():
            return new
        inside = [row for row in members if incumbents.is_incumbent(row)]
        written = [world.network.joint_papers_with(row, candidates) > 0 for row in inside]
        partners = [_shares(joint & (incumbent_shares > 0)) for joint in written]
        # A member without such partners among the candidates lets any incumbent take the seat.
        shares = [partner if partner.any() else incumbent_shares for partner in partners]
        repeated = np.mean(shares, axis=0) if shares else incumbent_shares
        return self.p * (self.q * repeated + (1 - self.q) * incumbent_shares) + (1 - self.p) * new

    def _draw_incumbent(
        self,
        incumbents: Incumbents,
        members: Sequence[int],
        excluded: AbstractSet[int],
        world: WorldView,
        rng: Generator,
    ) -> int | None:
        """Draw a former co-author of an incumbent in the team, or else any incumbent."""
        inside = [row for row in members if incumbents.is_incumbent(row)]
        if inside and rng.random() < self.q:
            member = inside[int(rng.integers(len(inside)))]
            partners = [
                row
                for row in world.network.coauthors(member)[0].tolist()
                if row not in excluded and incumbents.is_incumbent(row)
            ]
            if partners:
                partner: int = partners[int(rng.integers(len(partners)))]
                return partner
        return incumbents.sample_incumbent(excluded, rng)


def _shares(chosen: Sequence[bool] | np.ndarray) -> FloatArray:
    """Equal shares of those chosen, adding up to one; zeros where none is."""
    shares: FloatArray = np.asarray(chosen, dtype=float)
    return shares / max(1.0, float(shares.sum()))
