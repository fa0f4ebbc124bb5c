"""Explore: the increments by which somebody without joint papers may be asked too."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agents.part import Part
from society.streams import Streams

HALF_NORMAL_LIMIT = 6.0
"""Truncation of the increments; |N(1,1)| lies above it once in 3.5 million draws."""


class HalfNormal(Part):
    """e_ij = |N(1,1)| per pair, fixed for the run, truncated at 6 (VirSci, appendix D.4).

    Drawn by hashing seed and pair, never stored.
    """

    seed: int | None = None
    """Of the increments; null: the seed of the run."""

    def entry(self, i: int, j: int) -> float:
        """The increment of the pair, the same in both directions."""
        rng = Streams(self.seed or 0).stream("explore", min(i, j), max(i, j))
        while (value := abs(1.0 + float(rng.standard_normal()))) > HALF_NORMAL_LIMIT:
            pass
        return value


class Share(Part):
    """A total exploring mass per row: uniform with this probability, else by joint papers."""

    mass: float = Field(default=0.2, gt=0, le=1)
    """Probability of a uniform draw from everybody, drawn again where somebody may not be asked."""


Explore = Annotated[float, Field(gt=0, allow_inf_nan=False)] | HalfNormal | Share
"""What a scenario may say after ``explore``."""
