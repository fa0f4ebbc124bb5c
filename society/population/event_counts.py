"""Counts of dated events per person, as of a simulated date.

``DatedCounts`` holds the papers, citations and first co-authorships of a society. Counts from
before day 0 are cumulative sums over the population; events since then keep their dates. Only
events strictly before now are counted (rule 16), so nobody's chances change during a day. A draw
of a person in proportion to the counts is the uniform draw of one event.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray


class EventWindow(NamedTuple):
    """A range of the events since day 0, as indices into the order of their dates.

    Attributes:
        start: index of the first event.
        end: index after the last event.
    """

    start: int
    end: int


class DatedCounts:
    """How often one kind of event has happened to each person, by row of the population.

    Args:
        totals: returns the cumulative counts before day 0, an integer array of shape
            (people + 1,) from 0 to their sum, by row. It is called once, at the first draw or
            count, because a large society may never need it.
        now: returns the simulated date in days.
    """

    def __init__(self, totals: Callable[[], IntArray], now: Callable[[], float]) -> None:
        self._totals_of, self._now = totals, now
        self._dates: list[float] = []
        self._rows: list[int] = []
        self._previous: list[int] = []
        self._latest: dict[int, int] = {}

    def record(self, rows: Iterable[int]) -> None:
        """Add one event for each of these rows, dated now.

        Args:
            rows: people, who may repeat. Calls must come in order of date, which the clock gives.
        """
        date = self._now()
        for row in rows:
            self._previous.append(self._latest.get(row, -1))
            self._latest[row] = len(self._rows)
            self._rows.append(row)
            self._dates.append(date)

    def window(self, span: float | None = None) -> EventWindow:
        """The events before now and since a date.

        Args:
            span: how many days back the window reaches; None: to day 0.
        """
        dates, now = self._dates, self._now()
        end = len(dates)
        # Today's events do not count yet (rule 16). Mostly there are none: then no bisection.
        if end and not dates[-1] < now:
            end = bisect_left(dates, now)
        return EventWindow(0 if span is None else bisect_left(dates, now - span, 0, end), end)

    def total(self) -> int:
        """The number of events before now, those before day 0 included, of all people."""
        return self._before + self.window().end

    def person_at(self, index: int) -> int:
        """The row of the person to whom an event happened.

        Args:
            index: of the event, from 0 to ``total()`` - 1. Events before day 0 come first, by
                row, then those since day 0 by date.
        """
        if index >= self._before:
            return self._rows[index - self._before]
        return int(np.searchsorted(self._totals, index, side="right")) - 1

    def event_at(self, index: int, window: EventWindow) -> tuple[int, bool]:
        """The person of an event since day 0, and whether it is that person's first in a window.

        A uniform draw among the first events of a window is a uniform draw among the people who
        have an event in it.

        Args:
            index: of the event among those since day 0, from 0.
            window: the range that the event lies in.

        Returns:
            The row of the person, and True for its first event in the window.
        """
        return self._rows[index], self._previous[index] < window.start

    def has_event_in(self, row: int, window: EventWindow) -> bool:
        """Whether this person has an event in the window."""
        index = self._latest.get(row, -1)
        while index >= window.end:
            index = self._previous[index]
        return index >= window.start

    def count_before_day_0(self, row: int) -> int:
        """The number of this person's events before day 0; 0 for newcomers."""
        totals = self._totals
        return int(totals[row + 1] - totals[row]) if row + 1 < len(totals) else 0

    @cached_property
    def rows_before_day_0(self) -> IntArray:
        """Rows of the people with an event before day 0, ascending."""
        return np.flatnonzero(np.diff(self._totals))

    def counts(self, people: int) -> IntArray:
        """The number of events before now of each person.

        Args:
            people: how many rows to return, the size of the population.

        Returns:
            An integer array of shape (people,).
        """
        counts = np.zeros(people, dtype=np.int64)
        before = np.diff(self._totals)[:people]
        counts[: len(before)] = before
        since = np.array(self._rows[: self.window().end], dtype=np.int64)
        return counts + np.bincount(since, minlength=people)[:people]

    @cached_property
    def _totals(self) -> IntArray:
        return np.asarray(self._totals_of(), dtype=np.int64)

    @cached_property
    def _before(self) -> int:
        return int(self._totals[-1])


def cumulative_counts(counts: IntArray | FloatArray) -> IntArray:
    """Cumulative sums of counts, with a leading 0.

    Args:
        counts: one per person; NaN stands for an unknown count, which is taken as 0.

    Returns:
        An integer array of shape (people + 1,).
    """
    known = np.nan_to_num(counts).astype(np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])
