"""The observed sizes of past teams, from which protocols may draw the sizes of new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from agents.arrays import IntArray


class ObservedSizes(Sequence[int]):
    """Numbers of authors, one per past paper, in the order of the papers.

    Args:
        sizes: the numbers, each 1 or more; an array is used as it is, without a copy.
    """

    def __init__(self, sizes: Sequence[int] | IntArray) -> None:
        self._sizes = np.asarray(sizes, dtype=np.int64)
        self._within: dict[tuple[int, int], IntArray] = {}

    def __len__(self) -> int:
        return len(self._sizes)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> ObservedSizes: ...

    def __getitem__(self, index: int | slice) -> Any:
        sizes = self._sizes[index]
        return ObservedSizes(sizes) if isinstance(index, slice) else int(sizes)

    def within(self, smallest: int, largest: int) -> IntArray:
        """The sizes in a range, in the same order.

        They are searched once per range and kept, because every founding of a team asks for them.

        Args:
            smallest: the lowest size that is taken.
            largest: the highest size that is taken.

        Returns:
            An integer array, which must not be changed.
        """
        bounds = smallest, largest
        if bounds not in self._within:
            sizes = self._sizes
            self._within[bounds] = sizes[(sizes >= smallest) & (sizes <= largest)]
        return self._within[bounds]
