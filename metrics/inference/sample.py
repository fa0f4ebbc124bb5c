"""Sample: one number per replicate, and the interval that is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.errors import InputError

Floats = NDArray[np.float64]
Numbers = Sequence[float] | Floats

NAN = float("nan")
SKETCH = 5
"""Fewer replicates than this are a sketch, and every page says so."""


@dataclass(frozen=True)
class Interval:
    """A mean (or other statistic) with its interval; bounds are NaN where n is too small."""

    value: float
    low: float
    high: float
    n: int
    level: float = 0.95


def unbounded(value: float, n: int, level: float = 0.95) -> Interval:
    """A value of which no interval can be given."""
    return Interval(value, NAN, NAN, n, level)


def sample_of(values: Numbers) -> Floats:
    """The values as an array.

    Raises:
        InputError: not a flat list of finite numbers.
    """
    sample: Floats = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not np.isfinite(sample).all():
        raise InputError(f"a sample is a flat list of finite numbers, not {values!r:.80}")
    return sample


def pairs_of(first: Numbers, second: Numbers) -> tuple[Floats, Floats]:
    """Two samples of the same length.

    Raises:
        InputError: one is not a sample, or their lengths differ.
    """
    a, b = sample_of(first), sample_of(second)
    if len(a) != len(b):
        raise InputError(f"pairs need two samples of one length, not {len(a)} and {len(b)} values")
    return a, b


def skewness(values: Numbers) -> float:
    """Adjusted sample skewness G1 (Joanes and Gill 1998); NaN below three values, or all equal."""
    sample = sample_of(values)
    n, gaps = len(sample), sample - sample.mean() if len(sample) else sample
    if n < 3 or not np.ptp(sample) > 0:
        return NAN
    moment = float((gaps**3).mean() / (gaps**2).mean() ** 1.5)
    return moment * float(np.sqrt(n * (n - 1))) / (n - 2)
