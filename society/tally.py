"""Tally: how often something has happened to each person, drawn from and counted as of a date.

Counts before day 0 are running totals; what happens since are dated events, counted strictly
before now (rule 16). A draw in proportion to the counts is the draw of one event.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]


class Window(NamedTuple):
    """Events since day 0 from one place to another, exclusive."""

    start: int
    end: int


class Tally:
    """Events of people, rows from 0.

    Args:
        totals: gives the running totals of the counts before day 0, by row, from 0 to their sum
            (one more than there are people); asked once, when somebody draws or counts.
        now: reads the simulated date.
    """

    def __init__(self, totals: Callable[[], Rows], now: Callable[[], float]) -> None:
        self._totals_of, self._now = totals, now
        self._dates: list[float] = []
        self._rows: list[int] = []
        self._previous: list[int] = []
        self._latest: dict[int, int] = {}

    def add(self, rows: Iterable[int]) -> None:
        """It happens now, once for each row; dates never decrease."""
        date = self._now()
        for row in rows:
            self._previous.append(self._latest.get(row, -1))
            self._latest[row] = len(self._rows)
            self._rows.append(row)
            self._dates.append(date)

    def window(self, span: float | None = None) -> Window:
        """Events before now, and not longer ago than ``span`` days; None: since day 0."""
        dates, now = self._dates, self._now()
        end = len(dates)
        if end and not dates[-1] < now:
            end = bisect_left(dates, now)
        return Window(0 if span is None else bisect_left(dates, now - span, 0, end), end)

    def total(self) -> int:
        """All that has happened before now, to everybody together."""
        return self._before + self.window().end

    def whose(self, place: int) -> int:
        """Whose the event at a place, 0 to ``total()`` - 1, is: those before day 0 come first."""
        if place >= self._before:
            return self._rows[place - self._before]
        return int(np.searchsorted(self._totals, place, side="right")) - 1

    def event(self, place: int, window: Window) -> tuple[int, bool]:
        """Whose the event at a place since day 0 is, and whether it is that person's first in it.

        One among the first events is one among those people, each alike.
        """
        return self._rows[place], self._previous[place] < window.start

    def within(self, row: int, window: Window) -> bool:
        """Has it happened to this person in the window?"""
        place = self._latest.get(row, -1)
        while place >= window.end:
            place = self._previous[place]
        return place >= window.start

    def before(self, row: int) -> int:
        """How often it had happened to this person before day 0."""
        totals = self._totals
        return int(totals[row + 1] - totals[row]) if row + 1 < len(totals) else 0

    @cached_property
    def old(self) -> Rows:
        """Those to whom it had happened before day 0, in order of row."""
        return np.flatnonzero(np.diff(self._totals))

    def counts(self, people: int) -> Rows:
        """How often it has happened to each of so many people before now."""
        found = np.zeros(people, dtype=np.int64)
        before = np.diff(self._totals)[:people]
        found[: len(before)] = before
        since = np.array(self._rows[: self.window().end], dtype=np.int64)
        return found + np.bincount(since, minlength=people)[:people]

    @cached_property
    def _totals(self) -> Rows:
        return np.asarray(self._totals_of(), dtype=np.int64)

    @cached_property
    def _before(self) -> int:
        return int(self._totals[-1])


def running(counts: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> Rows:
    """Running totals of counts, from 0 to their sum; what is unknown counts as none."""
    known = np.nan_to_num(counts).astype(np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])
