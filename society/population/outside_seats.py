"""Rules of outside seats, that is how many authors outside the population a paper names.

A population that holds only some of a corpus's authors, such as those with five papers, writes with
people who are not in it. A rule of outside seats (``population.outside_seats``) gives a paper such
co-authors. They are named on it and nothing else: they are nobody's members, are not asked, take no
part in meetings and make no calls. ``outside_authors`` draws who they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.config import Part
from virsci_society.society.kernel.durations import Days
from virsci_society.society.literature.papers import DAYS_PER_YEAR

LEAST = 20
"""Past papers among which a number of outside authors is drawn, where there are as many."""


@dataclass(frozen=True, eq=False)
class PastSeats:
    """The past papers with at least one author in the population, as the rules count them.

    Attributes:
        inside: the number of authors in the population of each paper, >= 1.
        outside: the number of its other authors.
        p: share of the outside authorships of authors who had published before, 0..1.
        q: share of those whose author had a joint paper with an inside author of the paper, 0..1.
    """

    inside: IntArray
    outside: IntArray
    p: float
    q: float

    def outside_beside(self, members: int) -> IntArray:
        """The numbers of outside authors of the papers with so many authors in the population.

        Where fewer than ``LEAST`` papers have that number, those with the nearest numbers count
        too.

        Args:
            members: authors in the population, >= 1.
        """
        off = np.abs(self.inside - members)
        least = min(LEAST, len(off))
        found: IntArray = self.outside[off <= np.partition(off, least - 1)[least - 1]]
        return found


class OutsideSeats(Part):
    """A rule of outside seats; subclass it and write ``number``.

    Each outside seat is taken by an author who has published before with probability ``p``, and
    else by one who never has. One who has is with probability ``q`` a former co-author of a member,
    drawn by the number of joint papers and the time since the last; else, or where there is none,
    any other outside author, drawn by the number of papers, whose weights fade with age. These are
    the probabilities of Guimera et al. (2005) for the seats of people who are not simulated.
    """

    p: float | None = Field(default=None, ge=0, le=1)
    """Probability that an outside author has published before; null: as counted on past papers."""
    q: float | None = Field(default=None, ge=0, le=1)
    """Probability that one who has is a former co-author of a member; null: as counted."""
    since: Days | None = Field(default=5 * DAYS_PER_YEAR, gt=0)
    """Only papers of the last so much time before day 0 are counted; null: those of all years.
    Assumed."""
    memory: Days | None = Field(default=3 * DAYS_PER_YEAR, gt=30, le=36_500)
    """Time after which the weight of a paper has fallen to 1/e; null: it stays. Assumed."""

    @property
    def counts(self) -> bool:
        """Whether anything is counted on past papers."""
        return self.p is None or (self.p > 0 and self.q is None)

    def number(self, members: int, past: PastSeats, rng: np.random.Generator) -> int:
        """Draw how many outside authors a paper has.

        Args:
            members: its authors who are in the society, >= 1.
            past: the past papers with an author in the population.
            rng: the random stream of this paper.

        Returns:
            A number of 0 or more.
        """
        raise NotImplementedError


class CountedSeats(OutsideSeats):
    """As many as on a past paper with the same number of authors in the population."""

    @property
    def counts(self) -> bool:
        """Numbers are counted on past papers, whatever else is."""
        return True

    def number(self, members: int, past: PastSeats, rng: np.random.Generator) -> int:
        """Draw the number of one of these papers."""
        numbers = past.outside_beside(members)
        return int(numbers[rng.integers(len(numbers))])


class PoissonSeats(OutsideSeats):
    """A Poisson number with a stated mean, whatever the number of members."""

    mean: float = Field(ge=0, le=1000, allow_inf_nan=False)
    """Mean number of outside authors of a paper."""

    def number(self, members: int, past: PastSeats, rng: np.random.Generator) -> int:
        """Draw a Poisson number."""
        return int(rng.poisson(self.mean))
