"""Newcomers who enter a society through a seat in a team."""

from __future__ import annotations

import math

import numpy as np
from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.society.literature.papers import DAYS_PER_YEAR


class NewcomerSeats(Part):
    """Which seats of a team are taken by people who have never published in the society.

    Whoever is missing comes on the date of the draw and sits in the team at once, without an
    invitation. Place and interests come from a mentor in the team, as those of ``apprentices``.
    The chance of a seat differs between teams by a beta distribution, so the newcomers of a team
    are over-dispersed (beta-binomial).
    """

    lead: float = Field(default=0.2, ge=0, le=1)
    """Probability that the leader of a team is a newcomer."""
    seat: float = Field(default=0.4, ge=0, le=1)
    """Mean probability that a further seat is taken by a newcomer, on day 0."""
    spread: float = Field(default=4.0, gt=0, le=10_000)
    """Concentration (alpha + beta) of the beta distribution over teams: the smaller, the more
    do teams differ. The variance of the chance is seat x (1 - seat) / (1 + spread)."""
    trend: float = Field(default=0.0, ge=-2, le=2)
    """Change per year of the log odds of ``seat``, and of ``lead`` where it has none of its own."""
    lead_trend: float | None = Field(default=None, ge=-2, le=2)
    """Change per year of the log odds of ``lead``; null: as ``trend``."""
    one_off: float = Field(default=0.0, ge=0, le=1)
    """Probability that a newcomer leaves the society when the work of this team has ended."""
    shared: float = Field(default=0.5, ge=0, le=1)
    """Probability that an interest of the mentor is taken over."""

    def leads(self, day: float, rng: np.random.Generator) -> bool:
        """Draw whether the leader of a team founded on a date is a newcomer."""
        trend = self.trend if self.lead_trend is None else self.lead_trend
        return bool(rng.random() < shift_log_odds(self.lead, trend, day))

    def chance(self, day: float, rng: np.random.Generator) -> float:
        """Draw the chance of the seats of one team founded on a date."""
        mean = shift_log_odds(self.seat, self.trend, day)
        if mean in (0.0, 1.0):
            return mean
        return float(rng.beta(mean * self.spread, (1 - mean) * self.spread))


def shift_log_odds(chance: float, trend: float, day: float) -> float:
    """A probability after its log odds have changed for a time.

    Args:
        chance: the probability on day 0.
        trend: change of the log odds per year.
        day: the date in days.
    """
    if chance in (0.0, 1.0) or not trend:
        return chance
    odds = math.log(chance / (1 - chance)) + trend * day / DAYS_PER_YEAR
    return 1 / (1 + math.exp(-odds))
