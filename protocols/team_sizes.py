"""Distributions of the number of members that a leader wants."""

from __future__ import annotations

import math

import numpy as np
from pydantic import Field, field_validator, model_validator

from virsci_society.agents.config import Part
from virsci_society.society.formation.world_view import ObservedSizes
from virsci_society.society.kernel.durations import Days
from virsci_society.society.literature.papers import DAYS_PER_YEAR


class TeamSize(Part):
    """A distribution of team sizes; subclass it and write ``draw``."""

    def draw(self, observed: ObservedSizes, rng: np.random.Generator) -> int:
        """Draw one size, at least 1, of a team founded on day 0."""
        raise NotImplementedError

    def draw_on(self, day: float, observed: ObservedSizes, rng: np.random.Generator) -> int:
        """Draw one size, at least 1, of a team founded on a date in days; see ``draw``."""
        return self.draw(observed, rng)


class ChangingTeamSize(TeamSize):
    """A distribution of team sizes that changes with time; subclass it and write ``draw_on``."""

    def draw(self, observed: ObservedSizes, rng: np.random.Generator) -> int:
        """Draw one size of a team founded on day 0."""
        return self.draw_on(0.0, observed, rng)

    def draw_on(self, day: float, observed: ObservedSizes, rng: np.random.Generator) -> int:
        """Draw one size, at least 1, of a team founded on a date in days."""
        raise NotImplementedError


class ObservedSize(ChangingTeamSize):
    """A past team of the ecosystem at random, among those within the bounds."""

    smallest: int = Field(default=2, ge=1, le=10_000)
    """Ignore smaller past teams. Unit: authors."""
    largest: int | None = Field(default=8, ge=1, le=10_000)
    """Ignore larger past teams; null: none. Unit: authors. Source: VirSci's best is 8."""
    since: Days | None = Field(default=None, gt=0)
    """Use papers of this period before day 0; null: all."""
    growth: float = Field(default=0.0, ge=-1, le=1)
    """Yearly change of the log mean number of co-authors. Unit: 1 / year."""

    @model_validator(mode="after")
    def _in_order(self) -> ObservedSize:
        if self.largest is not None and self.smallest > self.largest:
            raise ValueError("smallest is larger than largest")
        return self

    def draw_on(self, day: float, observed: ObservedSizes, rng: np.random.Generator) -> int:
        """Draw one observed size within bounds; the lower bound if there is none."""
        within = observed.within(self.smallest, self.largest, self.since)
        size = int(within[rng.integers(len(within))]) if len(within) else self.smallest
        if not self.growth:
            return size
        coauthors = (size - 1) * math.exp(self.growth * day / DAYS_PER_YEAR)
        # Rounded up or down at random, so that the mean is kept.
        return 1 + int(coauthors + rng.random())


class NegativeBinomialSize(ChangingTeamSize):
    """``smallest`` plus a negative binomial number, whose mean may change with the years."""

    mean: float = Field(default=4.0, ge=1, le=1000)
    """Mean size on day 0. Unit: authors."""
    dispersion: float = Field(default=5.0, gt=0, le=10_000)
    """Gamma shape; smaller values give more variable sizes."""
    smallest: int = Field(default=1, ge=1, le=1000)
    """Smallest size. Unit: authors."""
    growth: float = Field(default=0.0, ge=-1, le=1)
    """Yearly change of the log mean excess over ``smallest``. Unit: 1 / year."""

    @model_validator(mode="after")
    def _in_order(self) -> NegativeBinomialSize:
        if self.smallest > self.mean:
            raise ValueError("smallest is larger than mean")
        return self

    def draw_on(self, day: float, observed: ObservedSizes, rng: np.random.Generator) -> int:
        """Draw one size."""
        excess = (self.mean - self.smallest) * math.exp(self.growth * day / DAYS_PER_YEAR)
        if not excess:
            return self.smallest
        chance = self.dispersion / (self.dispersion + excess)
        return self.smallest + int(rng.negative_binomial(self.dispersion, chance))


class StatedSize(TeamSize):
    """Sizes with stated weights, such as ``{2: 0.2, 3: 0.5, 5: 0.3}``."""

    weights: dict[int, float]
    """Weight of each size; the sum need not be 1. Unit: weight."""

    @field_validator("weights")
    @classmethod
    def _usable(cls, value: dict[int, float]) -> dict[int, float]:
        shares = list(value.values())
        sizes = value and min(value) >= 1 and max(value) <= 10_000
        if not sizes or min(shares) < 0 or not 0 < sum(shares) <= 1e12:
            raise ValueError(
                "sizes start at 1 and end at 10,000, weights are not negative and not all zero"
            )
        return value

    def draw(self, observed: ObservedSizes, rng: np.random.Generator) -> int:
        """Draw one size by weight."""
        # Sorted: the order of sizes in a file must not affect the draw.
        sizes = sorted(self.weights)
        shares = np.array([self.weights[size] for size in sizes])
        return sizes[int(rng.choice(len(sizes), p=shares / shares.sum()))]
