"""Input and output types of all inference functions (sample, interval), and skewness.

A sample is a flat list of finite numbers, one per replicate. Replicates are the unit of all
inference, since papers or teams of one run are not independent of each other.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import scipy

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError

Numbers = Sequence[float] | FloatArray

NAN = float("nan")
MIN_REPLICATES = 5
"""Least number of replicates per arm; with fewer, every page says that it is a sketch."""


@dataclass(frozen=True)
class Interval:
    """A mean (or other statistic) with its confidence interval.

    Attributes:
        value: the estimate; NaN where it is not defined.
        low: lower bound; NaN where n is too small.
        high: upper bound; NaN where n is too small.
        n: number of observations.
        level: coverage, in (0, 1).
        method: what the bounds are, such as "Student's t"; empty where they are no interval of a
            mean, or none can be given.
    """

    value: float
    low: float
    high: float
    n: int
    level: float = 0.95
    method: str = ""


def unbounded(value: float, n: int, level: float = 0.95) -> Interval:
    """An interval whose bounds are NaN, for a value of which no interval can be computed.

    Args:
        value: the estimate.
        n: number of observations.
        level: coverage that the interval would have, in (0, 1).
    """
    return Interval(value, NAN, NAN, n, level)


def sample_of(values: Numbers) -> FloatArray:
    """The values as a float64 array of shape (n,); n may be 0.

    Raises:
        InputError: the values are not a flat list of finite numbers.
    """
    sample: FloatArray = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not np.isfinite(sample).all():
        raise InputError(f"a sample is a flat list of finite numbers, not {values!r:.80}")
    return sample


def pairs_of(first: Numbers, second: Numbers) -> tuple[FloatArray, FloatArray]:
    """Two samples of the same length, as float64 arrays of shape (n,).

    Raises:
        InputError: one is not a sample, or their lengths differ.
    """
    a, b = sample_of(first), sample_of(second)
    if len(a) != len(b):
        raise InputError(f"pairs need two samples of one length, not {len(a)} and {len(b)} values")
    return a, b


def skewness(values: Numbers) -> float:
    """Adjusted sample skewness G1, the one with the bias correction of the moments.

    Returns:
        G1; NaN below three values, and where all values are equal.

    Source:
        Joanes, D. N. and Gill, C. A. (1998). Comparing measures of sample skewness and kurtosis.
        The Statistician 47.
    """
    sample = sample_of(values)
    if len(sample) < 3 or not np.ptp(sample) > 0:
        return NAN
    with constant_samples_allowed():
        return float(scipy.stats.skew(sample, bias=False))


@contextmanager
def constant_samples_allowed() -> Iterator[None]:
    """Silence scipy's warning about samples whose values are nearly identical.

    Such samples are common here (a count that is the same in every run of an arm), and the tests
    are exact for them.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)
        yield
