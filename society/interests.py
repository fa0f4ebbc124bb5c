"""Interests: what each scientist has come to be interested in since day 0, by date.

A paper may change them from the moment after its date on (rule 16). They are appended on the
clock, and told as of a date on any thread. How they change is a rule (``society/drift.py``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from operator import itemgetter

Weighed = tuple[tuple[str, float], ...]
"""Interests with their weights, the main topic first."""


class Interests:
    """Lists of interests with the date since which each holds, by row of the population."""

    def __init__(self) -> None:
        self._held: dict[int, list[tuple[float, Weighed]]] = {}

    def renew(self, row: int, date: float, interests: Weighed) -> None:
        """From now on somebody has these interests; dates never decrease."""
        self._held.setdefault(row, []).append((date, interests))

    def latest(self, row: int) -> tuple[float, Weighed] | None:
        """The last interests, today's included, and their date; None: those it came with."""
        held = self._held.get(row)
        return held[-1] if held else None

    def before(self, row: int, date: float) -> tuple[str, ...] | None:
        """The interests from everything dated before a date; None: those it came with."""
        held = self._held.get(row, [])
        place = bisect_left(held, date, key=itemgetter(0))
        return tuple(name for name, _ in held[place - 1][1]) if place else None

    def renewed(self) -> Iterable[int]:
        """Rows of those who do not have the interests any more that they came with."""
        return tuple(self._held)
