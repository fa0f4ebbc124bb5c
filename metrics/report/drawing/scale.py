"""Range, ticks and tick labels of one direction of a figure's axes, linear or logarithmic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from virsci_society.agents.arrays import FloatArray

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
WHOLE_STEPS = (1.0, 2.0, 5.0, 10.0)
_TOLERANCE = 1e-9


class Scale:
    """One direction of axes; the range follows the data unless an end is given."""

    def __init__(self) -> None:
        """A linear scale without data."""
        self.low: float | None = None
        self.high: float | None = None
        self.margin = 0.05
        self.bounds = (-math.inf, math.inf)
        self.headroom = 0.0
        self.ticks: Sequence[float] | None = None
        self.labels: Sequence[str] | None = None
        self.whole = False
        self.most: int | None = None
        self.log = False
        self.label = ""
        self.grid = False
        self.line = True
        self._least, self._largest = math.inf, -math.inf

    def include(self, values: FloatArray) -> None:
        """Let the range hold these values; those that are not finite are left out."""
        held = values[np.isfinite(values)]
        if len(held):
            self._least = min(self._least, float(held.min()))
            self._largest = max(self._largest, float(held.max()))

    def ends(self) -> tuple[float, float]:
        """Both ends of the range, never the same number."""
        least, largest = self._least, self._largest
        if least > largest:
            least, largest = (1.0, 10.0) if self.log else (0.0, 1.0)
        if self.log:
            return self._log_ends(least, largest)
        start = least if self.low is None else self.low
        stop = largest if self.high is None else self.high
        if start == stop:
            wider = max(1.0, abs(stop) * 0.1)
            stop = max(stop, min(stop + wider, self.bounds[1])) if self.high is None else stop
            start = min(start, max(start - wider, self.bounds[0])) if self.low is None else start
        pad = self.margin * (stop - start)
        low = max(start - pad, min(self.bounds[0], start)) if self.low is None else start
        high = min(stop + pad, max(self.bounds[1], stop)) if self.high is None else stop
        return low, high + self.headroom * (high - low)

    def _log_ends(self, least: float, largest: float) -> tuple[float, float]:
        pad = max((largest / least) ** self.margin, 1.1)
        low = least / pad if self.low is None else self.low
        high = largest * pad if self.high is None else self.high
        return low, high * (high / low) ** self.headroom

    def places(self, values: Iterable[float] | FloatArray, start: float, stop: float) -> FloatArray:
        """Where values lie."""
        low, high = self.ends()
        data = np.asarray(values, dtype=np.float64)
        if self.log:
            data, low, high = np.log(data), math.log(low), math.log(high)
        return np.asarray(start + (data - low) / (high - low) * (stop - start), dtype=np.float64)

    def marks(self, length: float, room: float) -> list[tuple[float, str]]:
        """The ticks: values and texts."""
        low, high = sorted(self.ends())
        if self.ticks is not None:
            texts = self.labels if self.labels is not None else [f"{one:g}" for one in self.ticks]
            return [
                (float(value), text.replace("-", "\N{MINUS SIGN}") if self.labels is None else text)
                for value, text in zip(self.ticks, texts, strict=True)
            ]
        if self.log:
            return [(value, f"{value:g}") for value in _log_ticks(low, high)]
        most = max(1, min(9, int(length / room)) if self.most is None else self.most)
        step = _step(high - low, most, self.whole)
        # What is added for a legend may lie beyond what the measure can be: no tick stands there.
        high = min(high, max(self.bounds[1], self._largest))
        # A tick at an end of the range may miss it by rounding.
        first, last = math.ceil(low / step - _TOLERANCE), math.floor(high / step + _TOLERANCE)
        return [(number * step, _text(number * step, step)) for number in range(first, last + 1)]


def _step(span: float, most: int, whole: bool) -> float:
    """The least round distance of ticks with which a range holds at most so many steps."""
    least = max(span / most, 1.0 if whole else 0.0)
    power = 10.0 ** math.floor(math.log10(least))
    allowed = WHOLE_STEPS if whole else STEPS
    return next(one * power for one in allowed if one * power >= least * (1 - _TOLERANCE))


def _text(value: float, step: float) -> str:
    """A tick's number with the decimals that its distance to the next one needs."""
    if abs(value) >= 1e7 or step < 1e-6:
        return f"{value:g}".replace("-", "\N{MINUS SIGN}")
    decimals = next(n for n in range(9) if abs(round(step, n) - step) < step * 1e-6)
    return f"{value + 0.0:.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    within = [10.0**power for power in powers if low <= 10.0**power <= high]
    if len(within) > 2:
        return within
    fine = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return [value for value in fine if low <= value <= high]
