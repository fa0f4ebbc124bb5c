"""Samples, and confidence intervals of a mean over replicates: Student's t and BCa."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.lazy_imports import scipy, special

if TYPE_CHECKING:
    import pandas as pd

Numbers = Sequence[float] | FloatArray

NAN = float("nan")
STUDENT, BCA = "Student's t", "BCa bootstrap"
"""Methods of intervals, as pages name them."""
MIN_REPLICATES = 5
"""Least number of replicates per arm; pages with fewer are marked as a sketch."""


@dataclass(frozen=True)
class Interval:
    """A mean (or other statistic) with its confidence interval."""

    value: float
    low: float
    high: float
    n: int
    level: float = 0.95
    method: str = ""


def unbounded(value: float, n: int, level: float = 0.95) -> Interval:
    """An interval with NaN bounds, for a value without an estimable interval."""
    return Interval(value, NAN, NAN, n, level)


def sample_of(values: Numbers) -> FloatArray:
    """The values as a float64 array of shape (n,); n may be 0."""
    sample: FloatArray = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not np.isfinite(sample).all():
        raise InputError(f"a sample is a flat list of finite numbers, not {values!r:.80}")
    return sample


def pairs_of(first: Numbers, second: Numbers) -> tuple[FloatArray, FloatArray]:
    """Two samples of the same length, as float64 arrays of shape (n,)."""
    a, b = sample_of(first), sample_of(second)
    if len(a) != len(b):
        raise InputError(f"pairs need two samples of one length, not {len(a)} and {len(b)} values")
    return a, b


def skewness(values: Numbers) -> float:
    """Adjusted sample skewness G1 (Joanes and Gill 1998); NaN below three values or if equal."""
    sample = sample_of(values)
    if len(sample) < 3 or not np.ptp(sample) > 0:
        return NAN
    with constant_samples_allowed():
        return float(scipy.stats.skew(sample, bias=False))


@contextmanager
def constant_samples_allowed() -> Iterator[None]:
    """Silence scipy's warning about samples whose values are nearly identical."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)
        yield


UNLIMITED = (-np.inf, np.inf)
"""The extent of a measure that can be any number."""
BLOCK = 2_000_000
"""Numbers that the bootstrap draws at once, at most."""


def t_interval(
    values: Numbers, level: float = 0.95, extent: tuple[float, float] = UNLIMITED
) -> Interval:
    """Student's t interval of the mean (Student 1908), within what the measure can be."""
    sample = sample_of(values)
    n = len(sample)
    mean = float(sample.mean()) if n else float("nan")
    if n < 2:
        return unbounded(mean, n, level)
    half = float(special.stdtrit(n - 1, 0.5 + level / 2) * sample.std(ddof=1) / np.sqrt(n))
    # Truncating at the measure's bounds keeps the coverage. Rounding may move a mean of equal
    # values past their bound.
    least, most = min(extent[0], mean), max(extent[1], mean)
    low, high = max(mean - half, least), min(mean + half, most)
    return Interval(mean, low, high, n, level, STUDENT)


def wilson_interval(hits: int, trials: int, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share."""
    # As ``scipy.stats`` has it; no measure of a run needs that module, whose import takes as long
    # as a small run.
    share, z = hits / trials, float(special.ndtri(0.5 + 0.5 * level))
    twice = 2 * (trials + z**2)
    middle = (2 * trials * share + z**2) / twice
    half = z / twice * math.sqrt(4 * trials * share * (1 - share) + z**2)
    low, high = (middle - half if hits else 0.0), (middle + half if hits < trials else 1.0)
    return Interval(share, low, high, trials, level, "Wilson")


def bca_interval(
    values: Numbers, level: float = 0.95, resamples: int = 9999, seed: int = 0
) -> Interval:
    """Bias-corrected and accelerated bootstrap interval of the mean (Efron 1987), seeded."""
    sample = sample_of(values)
    n = len(sample)
    value = float(sample.mean()) if n else NAN
    if n < 2:
        return unbounded(value, n, level)
    # scipy finds no bounds where nothing varies.
    if np.ptp(sample) == 0:
        return Interval(value, value, value, n, level, BCA)
    low, high = bca_bounds(sample, level, resamples, np.random.default_rng(seed)).tolist()
    return Interval(value, low, high, n, level, BCA)


def bca_bounds(
    samples: FloatArray, level: float, resamples: int, rng: np.random.Generator
) -> FloatArray:
    """BCa bounds of the mean of one sample, or of many that share the draws of their bootstrap."""
    found = scipy.stats.bootstrap(
        (samples,),
        np.mean,
        n_resamples=resamples,
        confidence_level=level,
        method="BCa",
        axis=-1,
        vectorized=True,
        # Blocks bound the memory. The draws, and so the bounds, depend on the seed alone.
        batch=max(1, BLOCK // samples.size),
        # The older name of ``rng``, which every release of scipy from 1.12 on accepts.
        random_state=rng,
    ).confidence_interval
    return np.stack([found.low, found.high], axis=-1)


REPLICATES = (5, 10, 20, 50)
POOR_COVERAGE = 0.90
"""An interval known to cover less often than this is warned of."""
SKEWNESS_LADDER = ("normal", "lognormal-0.25", "lognormal-0.5", "lognormal-1", "lognormal-1.5")
"""The families by which a page judges skewness, the least skewed first."""


@cache
def known_coverage() -> pd.DataFrame:
    """The simulated coverages of ``coverage.csv``: shares of intervals by family and n."""
    import pandas as pd

    return pd.read_csv(Path(__file__).with_name("coverage.csv"))


def expected_coverage(n: int, skewed: float) -> dict[str, float]:
    """The shares ``t`` and ``bca`` of intervals that cover the mean of such data."""
    at = max((size for size in REPLICATES if size <= n), default=REPLICATES[0])
    looks = abs(skewed) if np.isfinite(skewed) else 0.0
    table = known_coverage()
    cells = table[(table["n"] == at) & table["family"].isin(SKEWNESS_LADDER)]
    cell = cells.iloc[int((cells["skewness"] - looks).abs().to_numpy().argmin())]
    return {"t": float(cell["t"]), "bca": float(cell["bca"])}
