"""Intervals of a mean over replicates: Student's t, BCa bootstrap, and on the log scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special, stats

from agents.errors import InputError
from metrics.inference.sample import Floats, Interval, Numbers, sample_of, unbounded

Statistic = Callable[[Floats], float]
BLOCK = 2_000_000
"""Numbers drawn at once by the bootstrap."""


def t_interval(values: Numbers, level: float = 0.95) -> Interval:
    """Student's t interval of the mean (Student 1908); needs at least two values."""
    sample = sample_of(values)
    n = len(sample)
    mean = float(sample.mean()) if n else float("nan")
    if n < 2:
        return unbounded(mean, n, level)
    half = float(stats.t.ppf(0.5 + level / 2, n - 1) * sample.std(ddof=1) / np.sqrt(n))
    return Interval(mean, mean - half, mean + half, n, level)


def log_interval(values: Numbers, level: float = 0.95) -> Interval:
    """Interval of the geometric mean: Student's t on the logarithms, taken back.

    For positive, skewed measures, of which the geometric mean is the typical value (the median,
    where the logarithms are symmetric). It is not an interval of the arithmetic mean.

    Raises:
        InputError: a value is not above zero.
    """
    sample = sample_of(values)
    if (sample <= 0).any():
        raise InputError("a log-scale interval needs values above zero; take t or BCa instead")
    band = t_interval(np.log(sample), level)
    value, low, high = (float(np.exp(edge)) for edge in (band.value, band.low, band.high))
    return Interval(value, low, high, band.n, level)


def bca_interval(
    values: Numbers,
    statistic: Statistic | None = None,
    level: float = 0.95,
    resamples: int = 9999,
    seed: int = 0,
) -> Interval:
    """Bias-corrected and accelerated bootstrap interval (Efron 1987), seeded.

    Args:
        values: one number per replicate.
        statistic: sample -> number; the mean by default.
        level: coverage, in (0, 1).
        resamples: bootstrap samples.
        seed: the same seed gives the same bounds.
    """
    sample = sample_of(values)
    measure = statistic or (lambda numbers: float(np.mean(numbers)))
    n = len(sample)
    value = measure(sample) if n else float("nan")
    if n < 2:
        return unbounded(value, n, level)
    boot = _resampled(sample, statistic, resamples, seed)
    left_out = _left_out(sample, statistic)
    low, high = bca_bounds(boot[None], left_out[None], np.array([value]), level)[0]
    return Interval(value, float(low), float(high), n, level)


def bca_bounds(boot: Floats, left_out: Floats, values: Floats, level: float = 0.95) -> Floats:
    """BCa bounds of many samples at once (Efron 1987, eq. 2.3 with the jackknife's acceleration).

    Args:
        boot: the statistic of every resample, samples x resamples.
        left_out: the statistic without each value in turn, samples x n.
        values: the statistic of each sample.
        level: coverage, in (0, 1).

    Returns:
        Low and high, samples x 2; the value itself where the resamples do not vary.
    """
    resamples = boot.shape[1]
    ordered = np.sort(boot, axis=1)
    at = values[:, None]
    below = ((boot < at).mean(axis=1) + (boot <= at).mean(axis=1)) / 2
    bias = special.ndtri(np.clip(below, 1 / (2 * resamples), 1 - 1 / (2 * resamples)))[:, None]
    gaps = left_out.mean(axis=1, keepdims=True) - left_out
    spread = (gaps**2).sum(axis=1, keepdims=True)
    cubes = (gaps**3).sum(axis=1, keepdims=True)
    tilt = np.divide(cubes, 6 * spread**1.5, out=np.zeros_like(cubes), where=spread > 0)
    edges = bias + special.ndtri([(1 - level) / 2, (1 + level) / 2])
    bounds = _quantiles(ordered, special.ndtr(bias + edges / (1 - tilt * edges)))
    still = ordered[:, :1] == ordered[:, -1:]
    return np.asarray(np.where(still, at, bounds), dtype=np.float64)


def _quantiles(ordered: Floats, shares: Floats) -> Floats:
    """Linear quantiles of every row at its own shares."""
    place = shares * (ordered.shape[1] - 1)
    under = np.clip(np.floor(place).astype(np.int64), 0, ordered.shape[1] - 2)
    low = np.take_along_axis(ordered, under, axis=1)
    high = np.take_along_axis(ordered, under + 1, axis=1)
    return np.asarray(low + (high - low) * (place - under), dtype=np.float64)


def _resampled(sample: Floats, statistic: Statistic | None, resamples: int, seed: int) -> Floats:
    """The statistic of every bootstrap sample, drawn a block at a time to bound memory."""
    rng = np.random.default_rng(seed)
    block = max(1, BLOCK // len(sample))
    parts = []
    for start in range(0, resamples, block):
        count = min(block, resamples - start)
        drawn = sample[rng.integers(0, len(sample), size=(count, len(sample)))]
        if statistic is None:
            parts.append(drawn.mean(axis=1))
        else:
            parts.append(np.array([statistic(row) for row in drawn]))
    return np.concatenate(parts)


def _left_out(sample: Floats, statistic: Statistic | None) -> Floats:
    """The statistic without each value in turn."""
    if statistic is None:
        return np.asarray((sample.sum() - sample) / (len(sample) - 1), dtype=np.float64)
    return np.array([statistic(np.delete(sample, one)) for one in range(len(sample))])
