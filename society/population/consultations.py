"""The history of consultations, in which a scientist asks one outside its team for advice.

A consultation is made of words, so it becomes known when the asking team ends (rule 13). From
then on it may raise the chance that its guest is invited. Only consultations strictly before now
are counted (rule 16).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import numpy as np

from virsci_society.agents.arrays import IntArray


class ConsultationHistory:
    """The guests of each scientist in the order of their dates; a repeated guest is listed again.

    A draw of a guest in proportion to consultations is the uniform draw of an index of this list.

    Args:
        now: returns the simulated date in days.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._dates: dict[int, list[float]] = {}
        self._guests: dict[int, list[int]] = {}

    def record(self, asker: int, guest: int) -> None:
        """Add a consultation dated now, by the rows of asker and guest."""
        self._dates.setdefault(asker, []).append(self._now())
        self._guests.setdefault(asker, []).append(guest)

    def total(self, asker: int) -> int:
        """The number of consultations of a scientist before now."""
        dates = self._dates.get(asker)
        if not dates:
            return 0
        now = self._now()
        return len(dates) if dates[-1] < now else bisect_left(dates, now)

    def guest_at(self, asker: int, index: int) -> int:
        """The row of the guest at an index of the asker's list, from 0 to ``total(asker)`` - 1."""
        return self._guests[asker][index]

    def totals(self, askers: IntArray) -> IntArray:
        """``total`` of many askers at once, an array of the same length."""
        totals = (self.total(asker) for asker in askers.tolist())
        return np.fromiter(totals, np.int64, len(askers))

    def counts(self, asker: int, others: Sequence[int] | IntArray) -> IntArray:
        """How often a scientist has consulted each of some others before now.

        Args:
            asker: row of the scientist who asked.
            others: rows to count, in any order.

        Returns:
            An integer array of the length of ``others``.
        """
        asked = self._guests.get(asker, [])[: self.total(asker)]
        wanted = np.asarray(others, dtype=np.int64)
        if not asked:
            return np.zeros(len(wanted), dtype=np.int64)
        guests, often = np.unique(np.array(asked, dtype=np.int64), return_counts=True)
        places = np.minimum(np.searchsorted(guests, wanted), len(guests) - 1)
        return np.where(guests[places] == wanted, often[places], 0)
