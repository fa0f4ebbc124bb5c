"""Panels that decide on ideas by marks, of which it is stated how much truth they hold.

Marks correlate with the hidden worth by ``signal`` and with each other by ``agreement``, so the
mean of n has the reliability of Spearman and Brown (1910).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from pydantic import Field, model_validator

from virsci_society.agents.config import Part
from virsci_society.society.kernel.durations import Days, parse_days

NODES = 400
"""Worths, one for each of so many equal shares of the past papers, by which a bar is found."""


class Panel(Part):
    """Some reviewers, whose mean mark is held against a bar."""

    accept: float = Field(default=0.25, gt=0, lt=1)
    """Share that would be accepted of ideas that are worth what the past papers are worth. Unit:
    share. Source: assumed, about that of NeurIPS 2021."""
    decision: Days = Field(default_factory=lambda: parse_days("90d"))
    """From a submission to its decision. Unit: days. Source: assumed."""
    reviewers: int = Field(default=3, ge=1, le=1000)
    """Marks, of which the mean counts. Unit: reviewers. Source: assumed."""
    agreement: float = Field(default=0.33, ge=0, le=1)
    """Correlation of the marks that two reviewers give one idea. Unit: correlation. Source: with
    it two panels of three decide differently on 23 % of manuscripts of which they accept a
    quarter, as those of NeurIPS 2021 did (Beygelzimer et al. 2023)."""
    signal: float = Field(default=0.0, ge=0, le=1)
    """Correlation of how an idea looks to everybody with its worth. Unit: correlation. Source: off;
    ratings of 43 ideas before and after they were carried out correlate at -0.05 (Si et al.
    2025)."""
    lottery: float = Field(default=0.0, ge=0, le=1)
    """Share of the ideas, those nearest to the bar, on which a lot decides. Unit: share. Source:
    off."""

    @model_validator(mode="after")
    def _leaves_room_for_the_lot(self) -> Panel:
        most = 2.0 * min(self.accept, 1.0 - self.accept)
        if self.lottery > most:
            raise ValueError(
                f"lottery is more than {most:g}: half of it is accepted and half rejected, and "
                f"{self.accept:g} are accepted in all"
            )
        return self

    def accepts(self, looks: float, worthless: float, rng: np.random.Generator) -> bool:
        """Whether an idea is accepted by the mean of the marks."""
        marks, lot = rng.standard_normal(self.reviewers), rng.random()
        mean = math.sqrt(self.agreement) * looks
        mean += math.sqrt(1.0 - self.agreement) * float(marks.mean())
        if mean >= self.bar(self.accept - self.lottery / 2.0, worthless):
            return True
        # Without a lottery both bars are one.
        return lot < 0.5 and mean >= self.bar(self.accept + self.lottery / 2.0, worthless)

    def bar(self, share: float, worthless: float) -> float:
        """The mean mark that a share of the ideas reaches."""
        return _bar(share, self.signal, self.agreement, self.reviewers, worthless)


@cache
def _bar(share: float, signal: float, agreement: float, reviewers: int, worthless: float) -> float:
    from scipy import optimize, special

    if not 0.0 < share < 1.0:
        return math.inf if share <= 0.0 else -math.inf
    ranks = (np.arange(NODES) + 0.5) / NODES
    worth = np.maximum(ranks - worthless, 0.0) / (1.0 - worthless)
    known = math.sqrt(agreement) * signal * (worth - worth.mean()) / worth.std()
    # The rest of a mean mark: how the idea happens to look, and the own parts of the reviewers.
    spread = math.sqrt(agreement * (1.0 - signal**2) + (1.0 - agreement) / reviewers)

    def above(bar: float) -> float:
        if not spread:
            return float((known >= bar).mean()) - share
        return float(special.ndtr((known - bar) / spread).mean()) - share

    return float(optimize.brentq(above, -20.0, 20.0))
