"""Standing: the rich get richer."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from pydantic import Field

from society.interfaces import SelectionPolicy
from society.standing import By, draw_by, weights_by
from society.surroundings import Surroundings


class ByStanding(SelectionPolicy):
    """In proportion to standing plus a floor: preferential attachment.

    Source: Barabasi and Albert, Science 286:509 (1999); measured in co-authorship by Newman,
    Physical Review E 64:025102 (2001), on distinct co-authors.
    """

    by: By = "coauthors"
    """Distinct co-authors, papers, or citations received, as of the date."""
    floor: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """Added to everybody's standing; with 0 nobody without any is ever asked."""

    def choose(
        self,
        members: Sequence[int],
        excluded: AbstractSet[int],
        world: Surroundings,
        rng: np.random.Generator,
    ) -> int | None:
        """One draw by standing, whoever is in the team."""
        return draw_by(world, self.by, self.floor, excluded, rng)

    def chances(
        self, members: Sequence[int], candidates: Sequence[int], world: Surroundings
    ) -> np.ndarray:
        """Standing plus floor."""
        return weights_by(world, self.by, self.floor, candidates)
