"""The observed sizes of past teams, from which protocols may draw the sizes of new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray


class ObservedSizes(Sequence[int]):
    """Numbers of authors, one per past paper, in the order of the papers.

    Args:
        sizes: the numbers, each 1 or more; an array is used as it is, without a copy.
        dates: of the papers in days, none later than day 0; None: not known, which is as if all
            papers were of day 0.
    """

    def __init__(self, sizes: Sequence[int] | IntArray, dates: FloatArray | None = None) -> None:
        self._sizes = np.asarray(sizes, dtype=np.int64)
        self._dates = dates
        self._within: dict[tuple[int, int | None, float | None], IntArray] = {}

    def __len__(self) -> int:
        return len(self._sizes)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> ObservedSizes: ...

    def __getitem__(self, index: int | slice) -> Any:
        sizes = self._sizes[index]
        return ObservedSizes(sizes) if isinstance(index, slice) else int(sizes)

    def within(self, smallest: int, largest: int | None, since: float | None = None) -> IntArray:
        """The sizes in a range, in the same order.

        They are searched once per range and kept, because every founding of a team asks for them.

        Args:
            smallest: the lowest size that is taken.
            largest: the highest size that is taken; None: no limit.
            since: only papers of the last so many days before day 0 are taken; None: all.

        Returns:
            An integer array, which must not be changed.
        """
        bounds = smallest, largest, since
        if bounds not in self._within:
            taken = self._sizes >= smallest
            if largest is not None:
                taken &= self._sizes <= largest
            if since is not None and self._dates is not None:
                taken &= self._dates >= -since
            self._within[bounds] = self._sizes[taken]
        return self._within[bounds]
