"""Consulted: who has asked whom for advice, and since when that is known.

A consultation is made of words, so it becomes known when the asking team ends (rule 13), and is
counted strictly before now (rule 16).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]


class Consulted:
    """Guests of each scientist, in the order of asking; one asked twice stands there twice.

    Args:
        now: reads the simulated date.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._dates: dict[int, list[float]] = {}
        self._guests: dict[int, list[int]] = {}

    def record(self, asker: int, guest: int) -> None:
        """A consultation becomes known now."""
        self._dates.setdefault(asker, []).append(self._now())
        self._guests.setdefault(asker, []).append(guest)

    def known(self, asker: int) -> int:
        """Consultations that somebody had before now."""
        dates = self._dates.get(asker)
        if not dates:
            return 0
        now = self._now()
        return len(dates) if dates[-1] < now else bisect_left(dates, now)

    def guest(self, asker: int, place: int) -> int:
        """Who was asked at a place, 0 to ``known(asker)`` - 1."""
        return self._guests[asker][place]

    def knowns(self, askers: Rows) -> Rows:
        """``known`` of many at once."""
        return np.fromiter((self.known(one) for one in askers.tolist()), np.int64, len(askers))

    def counts(self, asker: int, others: Sequence[int] | Rows) -> Rows:
        """How often each of some people was asked by somebody before now."""
        asked = self._guests.get(asker, [])[: self.known(asker)]
        wanted = np.asarray(others, dtype=np.int64)
        if not asked:
            return np.zeros(len(wanted), dtype=np.int64)
        guests, often = np.unique(np.array(asked, dtype=np.int64), return_counts=True)
        places = np.minimum(np.searchsorted(guests, wanted), len(guests) - 1)
        return np.where(guests[places] == wanted, often[places], 0)
