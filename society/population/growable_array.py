"""An array that grows at its end, for the newcomers of a society.

A newcomer adds one element to the arrays of a population, which may hold millions. Spare room at
the end makes this cheap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

MIN_SPARE_ROOM = 64


class GrowableArray:
    """A one-dimensional array with amortised append.

    Attributes:
        values: all elements so far, a view of the array with the spare room. Changing an element
            in it changes the array.

    Args:
        numbers: the first elements; they are copied at the first append.
    """

    def __init__(self, numbers: npt.NDArray[Any]) -> None:
        self.values, self._room = numbers, numbers

    def append(self, number: int) -> npt.NDArray[Any]:
        """Append one element and return the new ``values``; earlier views keep their length."""
        count = len(self.values)
        if count == len(self._room):
            # Room for an eighth more, so that many appends copy the array only a few times.
            self._room = np.concatenate(
                [self.values, np.zeros(MIN_SPARE_ROOM + count // 8, self.values.dtype)]
            )
        self._room[count] = number
        self.values = self._room[: count + 1]
        return self.values
