"""The history of interests, that is what each scientist works on, by date since day 0.

A paper may change its authors' interests, from the moment after its date on (rule 16). The clock
appends; a profile of any date can be read on any thread. ``interest_drift`` has the rules by
which interests change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from operator import itemgetter

WeightedInterests = tuple[tuple[str, float], ...]
"""Interests with their weights, the main topic first."""


class InterestHistory:
    """Dated lists of interests, by row of the population.

    A scientist whose interests have never changed has no entry here: its profile has them.
    """

    def __init__(self) -> None:
        self._held: dict[int, list[tuple[float, WeightedInterests]]] = {}

    def record(self, row: int, date: float, interests: WeightedInterests) -> None:
        """Add the interests that a scientist has from the moment after a date on.

        Args:
            row: of the scientist.
            date: in days; it never decreases from call to call.
            interests: all of them, the main topic first.
        """
        self._held.setdefault(row, []).append((date, interests))

    def latest(self, row: int) -> tuple[float, WeightedInterests] | None:
        """The last interests of a scientist, today's included, with their date.

        Returns:
            None for a scientist who still has the interests it came with.
        """
        held = self._held.get(row)
        return held[-1] if held else None

    def before(self, row: int, date: float) -> tuple[str, ...] | None:
        """The interests that follow from everything dated before a date, the main topic first.

        Returns:
            None for a scientist who had the interests it came with.
        """
        held = self._held.get(row, [])
        place = bisect_left(held, date, key=itemgetter(0))
        return tuple(name for name, _ in held[place - 1][1]) if place else None

    def changed_rows(self) -> Iterable[int]:
        """Rows of the scientists whose interests have changed since they came."""
        return tuple(self._held)
