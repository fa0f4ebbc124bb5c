"""Column: numbers in a row to which one more is appended now and then."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

SPARE = 64


class Column:
    """An array that grows at its end; whoever holds an earlier state of it keeps that.

    Attributes:
        held: all numbers by now. Elements that are changed in it stay changed.

    Args:
        numbers: the first ones, copied only once something is appended.
    """

    def __init__(self, numbers: npt.NDArray[Any]) -> None:
        self.held, self._room = numbers, numbers

    def append(self, number: int) -> npt.NDArray[Any]:
        """One more at the end; returns all of them."""
        count = len(self.held)
        if count == len(self._room):
            # An eighth more than there are, so that a thousand of them copy little.
            self._room = np.concatenate([self.held, np.zeros(SPARE + count // 8, self.held.dtype)])
        self._room[count] = number
        self.held = self._room[: count + 1]
        return self.held
