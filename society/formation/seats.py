"""Rules for seats, taken by newcomers, an earlier team or the leader's group, and team sizes."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Set as AbstractSet

from numpy.random import Generator
from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.society.formation.world_view import PapersView
from virsci_society.society.kernel.durations import Days
from virsci_society.society.literature.papers import DAYS_PER_YEAR


class NewcomerSeats(Part):
    """Seats of a team filled by scientists who have never published in the society.

    Whoever is missing comes on the date of the draw and sits in the team at once, without an
    invitation. Place and interests come from a mentor in the team, as those of ``apprentices``.
    """

    lead: float = Field(default=0.2, ge=0, le=1)
    """Probability that a newcomer leads. Unit: probability. Source: calibrated."""
    seat: float = Field(default=0.4, ge=0, le=1)
    """Mean probability that a further seat goes to a newcomer, on day 0. Unit: probability. Source:
    calibrated."""
    spread: float = Field(default=4.0, gt=0, le=10_000)
    """Concentration of the beta distribution over teams; variance seat x (1 - seat) / (1 + spread).
    Source: calibrated."""
    trend: float = Field(default=0.0, ge=-2, le=2)
    """Yearly change of the log odds of ``seat``. Unit: 1 / year. Source: calibrated."""
    lead_trend: float | None = Field(default=None, ge=-2, le=2)
    """Yearly change of the log odds of ``lead``; null: as ``trend``. Unit: 1 / year. Source:
    calibrated."""
    transient_share: float = Field(default=0.0, ge=0, le=1)
    """Probability that a newcomer leaves the society with the team. Unit: probability. Source:
    calibrated."""
    shared: float = Field(default=0.5, ge=0, le=1)
    """Probability of inheriting each interest of the mentor. Unit: probability."""

    def leads(self, day: float, rng: Generator) -> bool:
        """Draw whether the leader of a team founded on a date is a newcomer."""
        trend = self.trend if self.lead_trend is None else self.lead_trend
        return bool(rng.random() < shift_log_odds(self.lead, trend, day))

    def chance(self, day: float, rng: Generator) -> float:
        """Draw the chance of the seats of one team founded on a date."""
        mean = shift_log_odds(self.seat, self.trend, day)
        # No beta distribution has a mean of 0 or 1.
        if mean in (0.0, 1.0):
            return mean
        return float(rng.beta(mean * self.spread, (1 - mean) * self.spread))


def shift_log_odds(chance: float, trend: float, day: float) -> float:
    """A probability of day 0 after its log odds have changed by ``trend`` per year until a day."""
    # The log odds of 0 and 1 are infinite and stay so.
    if chance in (0.0, 1.0) or not trend:
        return chance
    odds = math.log(chance / (1 - chance)) + trend * day / DAYS_PER_YEAR
    return 1 / (1 + math.exp(-odds))


class RepeatedTeams(Part):
    """A share of the teams begins with co-authors of a recent paper of the leader.

    The size of such a team is that of the earlier paper; the seats of those who do not stay are
    filled as in every other team.
    """

    share: float = Field(default=0.3, ge=0, le=1)
    """Probability of a repeat, if the leader has a recent paper. Unit: probability. Source:
    calibrated."""
    stay: float = Field(default=0.6, ge=0, le=1)
    """Probability that a co-author of that paper stays. Unit: probability. Source: calibrated."""
    within: Days = Field(default=3 * DAYS_PER_YEAR, gt=0)
    """Maximum age of that paper."""

    def earlier_team(
        self, leader: int, world: PapersView, rng: Generator
    ) -> tuple[int, ...] | None:
        """Draw the paper whose team this leader (row) repeats."""
        if not rng.random() < self.share:
            return None
        history, since = world.history, world.day - self.within
        papers = history.papers_of(leader)
        # In order of date, so that few of a long career are looked at.
        first = bisect_left(papers, since, key=history.date_of)
        if first == len(papers):
            return None
        paper = papers[first + int(rng.integers(len(papers) - first))]
        # In author order, so that the draws of who stays mean the same people in every run.
        return tuple(row for row in history.authors_of(paper) if row != leader)

    def staying(
        self, others: tuple[int, ...], excluded: AbstractSet[int], rng: Generator
    ) -> list[int]:
        """Draw who of the authors of an earlier team stays; excluded rows may not be drawn."""
        # Drawn for everybody, so that availability shifts no draw (rule 9).
        stays = rng.random(len(others)) < self.stay
        return [
            row for row, stay in zip(others, stays, strict=True) if stay and row not in excluded
        ]


class ResearchGroups(Part):
    """Leaders ask newcomers of their own group first.

    The group of a leader are the newcomers who came with it as their mentor and have been there
    for less than ``stay``. It goes with ``newcomers``, whose mentor then is the leader.
    """

    share: float = Field(default=0.5, ge=0, le=1)
    """Probability that a seat is offered to the group first. Unit: probability."""
    stay: Days = Field(default=4 * DAYS_PER_YEAR, gt=0)
    """Time that a newcomer belongs to its mentor's group."""

    def choose(
        self, leader: int, excluded: AbstractSet[int], world: PapersView, rng: Generator
    ) -> int | None:
        """Draw a junior of the leader's group, uniformly."""
        if not rng.random() < self.share:
            return None
        since = world.day - self.stay
        free = [
            row
            for came, row in world.mentees.get(leader, ())
            # Not on the date of coming: others know of a newcomer only after it (rule 16).
            if since < came < world.day and row not in excluded
        ]
        return free[int(rng.integers(len(free)))] if free else None
