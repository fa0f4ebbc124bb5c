"""Incumbents: who has published in this society, and who has not yet."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet

import numpy as np
import numpy.typing as npt

from society.drawing import Rows, draw
from society.surroundings import Surroundings


class Incumbents:
    """Incumbents as of now: those with a paper before now; all others are newcomers.

    Args:
        world: as of now.
        inactivity: days without a paper after which somebody is neither; None: never.
        ever: do papers before day 0 count? They are taken as dated on day 0.
    """

    def __init__(self, world: Surroundings, inactivity: float | None, ever: bool) -> None:
        self._papers, self._people = world.population.papers, len(world.population)
        self._window, self._since = self._papers.window(inactivity), self._papers.window()
        self._ever = ever
        self._recent = ever and (inactivity is None or world.day <= inactivity)

    def holds(self, row: int) -> bool:
        """Is this an incumbent?"""
        old = self._recent and self._papers.before(row) > 0
        return old or self._papers.within(row, self._window)

    def new(self, row: int) -> bool:
        """Is this a newcomer?"""
        old = self._ever and self._papers.before(row) > 0
        return not old and not self._papers.within(row, self._since)

    def draw(self, excluded: AbstractSet[int], rng: np.random.Generator) -> int | None:
        """One incumbent, each alike; None where none is left."""
        old = self._papers.old if self._recent else ()
        start, end = self._window
        if end - start + len(old) == 0:
            return None

        def propose() -> int | None:
            place = int(rng.integers(end - start + len(old)))
            if place < len(old):
                return int(old[place])
            row, first = self._papers.event(start + place - len(old), self._window)
            # Whoever counts already from before day 0 is not counted again.
            again = self._recent and self._papers.before(row) > 0
            return row if first and not again else None

        return draw(propose, self._where(self.holds), self._people, excluded, rng)

    def newcomer(self, excluded: AbstractSet[int], rng: np.random.Generator) -> int | None:
        """One newcomer, each alike; None where none is left."""

        def propose() -> int | None:
            row = int(rng.integers(self._people))
            return row if self.new(row) else None

        return draw(propose, self._where(self.new), self._people, excluded, rng)

    def _where(self, true: Callable[[int], bool]) -> Callable[[Rows], npt.NDArray[np.float64]]:
        return lambda rows: np.array([float(true(row)) for row in rows.tolist()])
