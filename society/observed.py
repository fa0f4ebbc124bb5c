"""ObservedSizes: the sizes of past teams, kept so that a draw does not go through all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt


class ObservedSizes(Sequence[int]):
    """Numbers of authors, one per past paper, in the order of the papers.

    Args:
        sizes: the numbers; an array is taken as it is.
    """

    def __init__(self, sizes: Sequence[int] | npt.NDArray[np.int64]) -> None:
        self._sizes = np.asarray(sizes, dtype=np.int64)
        self._within: dict[tuple[int, int], npt.NDArray[np.int64]] = {}

    def __len__(self) -> int:
        return len(self._sizes)

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> ObservedSizes: ...

    def __getitem__(self, place: int | slice) -> Any:
        found = self._sizes[place]
        return ObservedSizes(found) if isinstance(place, slice) else int(found)

    def within(self, smallest: int, largest: int) -> npt.NDArray[np.int64]:
        """Those from ``smallest`` to ``largest``, in the same order; looked for only once."""
        bounds = smallest, largest
        if bounds not in self._within:
            sizes = self._sizes
            self._within[bounds] = sizes[(sizes >= smallest) & (sizes <= largest)]
        return self._within[bounds]
