"""Distributions of the number of members that a leader wants."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from pydantic import Field, field_validator, model_validator

from agents.config import Part
from society.formation.observed_sizes import ObservedSizes


class TeamSize(Part):
    """A distribution of team sizes; subclass it and write ``draw``."""

    def draw(self, observed: Sequence[int], rng: np.random.Generator) -> int:
        """Draw one size, at least 1.

        Args:
            observed: sizes of the ecosystem's past teams.
            rng: the stream of this draw.
        """
        raise NotImplementedError


class ObservedSize(TeamSize):
    """A past team of the ecosystem at random, among those within the bounds."""

    smallest: int = Field(default=2, ge=1)
    """Smaller past teams are passed over."""
    largest: int = Field(default=8, ge=1)
    """Larger past teams are passed over."""

    @model_validator(mode="after")
    def _in_order(self) -> ObservedSize:
        if self.smallest > self.largest:
            raise ValueError("smallest is larger than largest")
        return self

    def draw(self, observed: Sequence[int], rng: np.random.Generator) -> int:
        """Draw one observed size; the lower bound where none lies within."""
        sizes = observed if isinstance(observed, ObservedSizes) else ObservedSizes(observed)
        within = sizes.within(self.smallest, self.largest)
        return int(within[rng.integers(len(within))]) if len(within) else self.smallest


class StatedSize(TeamSize):
    """Sizes with stated weights, such as ``{2: 0.2, 3: 0.5, 5: 0.3}``."""

    weights: dict[int, float]
    """Size: weight; the weights need not sum to one."""

    @field_validator("weights")
    @classmethod
    def _usable(cls, value: dict[int, float]) -> dict[int, float]:
        shares = list(value.values())
        if not value or min(value) < 1 or min(shares) < 0 or not 0 < sum(shares) < math.inf:
            raise ValueError("sizes start at 1, weights are not negative and not all zero")
        return value

    def draw(self, observed: Sequence[int], rng: np.random.Generator) -> int:
        """Draw one size by weight."""
        sizes = sorted(self.weights)
        shares = np.array([self.weights[size] for size in sizes])
        return sizes[int(rng.choice(len(sizes), p=shares / shares.sum()))]
