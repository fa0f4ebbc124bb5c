"""Incumbents, who have published in a society, and newcomers, who have not yet.

Team assembly after Guimera et al. (2005) draws members from these two groups.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.society.formation.rejection_sampling import sample_by_rejection
from virsci_society.society.formation.world_view import WorldView


class Incumbents:
    """The incumbents of a society as of now.

    An incumbent has a paper before now, and within the limit of inactivity. A newcomer has never
    had a paper. A scientist whose last paper is too old is neither.

    Args:
        world: as of now.
        inactivity: days without a paper after which an incumbent is one no longer; None: never.
        ever: whether papers before day 0 count. They are taken as dated on day 0.
    """

    def __init__(self, world: WorldView, inactivity: float | None, ever: bool) -> None:
        self._papers, self._people = world.population.papers, len(world.population)
        self._window, self._since = self._papers.window(inactivity), self._papers.window()
        self._ever = ever
        self._recent = ever and (inactivity is None or world.day <= inactivity)

    def is_incumbent(self, row: int) -> bool:
        """Whether a scientist is an incumbent."""
        old = self._recent and self._papers.count_before_day_0(row) > 0
        return old or self._papers.has_event_in(row, self._window)

    def is_newcomer(self, row: int) -> bool:
        """Whether a scientist has never had a paper that counts."""
        old = self._ever and self._papers.count_before_day_0(row) > 0
        return not old and not self._papers.has_event_in(row, self._since)

    def sample_incumbent(self, excluded: AbstractSet[int], rng: np.random.Generator) -> int | None:
        """Draw one incumbent who is not excluded, uniformly; None where none is left."""
        old = self._papers.rows_before_day_0 if self._recent else ()
        start, end = self._window
        if end - start + len(old) == 0:
            return None

        def propose() -> int | None:
            index = int(rng.integers(end - start + len(old)))
            if index < len(old):
                return int(old[index])
            row, first = self._papers.event_at(start + index - len(old), self._window)
            # A person is proposed for its first event only, and not at all for an event of the
            # window if it is among those of before day 0 already: so each has one chance.
            again = self._recent and self._papers.count_before_day_0(row) > 0
            return row if first and not again else None

        weights = self._indicator(self.is_incumbent)
        return sample_by_rejection(propose, weights, self._people, excluded, rng)

    def sample_newcomer(self, excluded: AbstractSet[int], rng: np.random.Generator) -> int | None:
        """Draw one newcomer who is not excluded, uniformly; None where none is left."""

        def propose() -> int | None:
            row = int(rng.integers(self._people))
            return row if self.is_newcomer(row) else None

        weights = self._indicator(self.is_newcomer)
        return sample_by_rejection(propose, weights, self._people, excluded, rng)

    def _indicator(self, condition: Callable[[int], bool]) -> Callable[[IntArray], FloatArray]:
        """Weights that are 1 where a condition on the row is true, else 0."""
        return lambda rows: np.array([float(condition(row)) for row in rows.tolist()])
