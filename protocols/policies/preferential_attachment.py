"""A selection policy of preferential attachment, by co-authors, papers or citations."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.random import Generator
from pydantic import Field, model_validator

from virsci_society.society.formation.sampling import CountedBy, count_weights, sample_by_count
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.formation.world_view import WorldView
from virsci_society.society.kernel.durations import Days


class PreferentialAttachment(SelectionPolicy):
    """In proportion to a count plus a floor: preferential attachment.

    Source: Barabasi and Albert, Science 286:509 (1999); measured in co-authorship by Newman,
    Physical Review E 64:025102 (2001), on distinct co-authors.
    """

    by: CountedBy = "coauthors"
    """Distinct co-authors, papers or citations, as of the date. Source: Barabasi and Albert 1999;
    Newman 2001."""
    floor: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """Added to every count; with 0 nobody without any is ever drawn. Unit: co-authors, papers or
    citations."""
    memory: Days | None = Field(default=None, gt=30, le=36_500)
    """For ``papers``: time after which a paper's weight has fallen to 1/e; null: never."""

    @model_validator(mode="after")
    def _dated(self) -> PreferentialAttachment:
        if self.memory is not None and self.by != "papers":
            raise ValueError(f"memory needs by: papers; {self.by} before day 0 have no dates")
        return self

    def choose(
        self, members: Sequence[int], excluded: AbstractSet[int], world: WorldView, rng: Generator
    ) -> int | None:
        """Draw one in proportion to standing plus floor, ignoring the team."""
        return sample_by_count(world, self.by, self.floor, excluded, rng, self.memory)

    def probabilities(
        self, members: Sequence[int], candidates: Sequence[int], world: WorldView
    ) -> np.ndarray:
        """Standing plus floor of the candidates."""
        return count_weights(world, self.by, self.floor, candidates, self.memory)
