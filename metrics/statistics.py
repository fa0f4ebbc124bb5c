"""Statistics over replicates: intervals, corrections, effect sizes, and one logistic slope.

Replicates are the unit; papers or teams of one run are not independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from agents.errors import InputError

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], float]
BLOCK = 2_000_000
"""Numbers drawn at once by the bootstrap."""
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


def t_interval(values: Sequence[float] | Floats, level: float = 0.95) -> Interval:
    """Student's t interval of the mean (Student 1908); needs at least two values."""
    sample = _sample(values)
    n = len(sample)
    mean = float(sample.mean()) if n else float("nan")
    if n < 2:
        return Interval(mean, float("nan"), float("nan"), n, level)
    half = float(stats.t.ppf(0.5 + level / 2, n - 1) * sample.std(ddof=1) / np.sqrt(n))
    return Interval(mean, mean - half, mean + half, n, level)


def bca_interval(
    values: Sequence[float] | Floats,
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
    sample = _sample(values)
    measure = statistic or (lambda numbers: float(np.mean(numbers)))
    n = len(sample)
    value = measure(sample) if n else float("nan")
    if n < 2:
        return Interval(value, float("nan"), float("nan"), n, level)
    boot = _resampled(sample, statistic, resamples, seed)
    if np.ptp(boot) == 0.0:
        return Interval(value, value, value, n, level)
    below = ((boot < value).mean() + (boot <= value).mean()) / 2
    bias = special.ndtri(np.clip(below, 1 / (2 * resamples), 1 - 1 / (2 * resamples)))
    left_out = _left_out(sample, statistic)
    gaps = left_out.mean() - left_out
    spread = np.sum(gaps**2)
    tilt = np.sum(gaps**3) / (6 * spread**1.5) if spread > 0 else 0.0
    edges = bias + special.ndtri([(1 - level) / 2, (1 + level) / 2])
    low, high = np.quantile(boot, special.ndtr(bias + edges / (1 - tilt * edges)))
    return Interval(value, float(low), float(high), n, level)


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


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p values, in the order given (Holm 1979)."""
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    factors = np.arange(len(given), 0, -1)
    stepped = np.minimum(np.maximum.accumulate(given[order] * factors), 1.0)
    adjusted = np.empty_like(stepped)
    adjusted[order] = stepped
    return [float(value) for value in adjusted]


def cohen_d(first: Sequence[float], second: Sequence[float]) -> float:
    """Standardised difference of two means, pooled deviation (Cohen 1988); NaN if undefined."""
    a, b = _sample(first), _sample(second)
    if len(a) < 2 or len(b) < 2:
        return float("nan")
    weights = (len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)
    pooled = np.sqrt(weights / (len(a) + len(b) - 2))
    return float((a.mean() - b.mean()) / pooled) if pooled > 0 else float("nan")


def hedges_g(first: Sequence[float], second: Sequence[float]) -> float:
    """Cohen's d without its small-sample bias (Hedges 1981, exact factor)."""
    freedom = len(first) + len(second) - 2
    if freedom < 2:
        return float("nan")
    log_factor = special.gammaln(freedom / 2) - special.gammaln((freedom - 1) / 2)
    return cohen_d(first, second) * float(np.exp(log_factor) / np.sqrt(freedom / 2))


def detectable_effect(n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Smallest Cohen's d that two arms of n replicates each find with this power.

    Two-sided t test, noncentral t (Cohen 1988): n = 20 gives 0.91. NaN for n < 2.
    """
    if n < 2:
        return float("nan")
    freedom = 2 * n - 2
    limit = stats.t.ppf(1 - alpha / 2, freedom)

    def missing(effect: float) -> float:
        """Power at this effect, less the power wanted."""
        shift = effect * np.sqrt(n / 2)
        # Far from zero the lower tail underflows to NaN where it is nothing.
        lower = np.nan_to_num(stats.nct.cdf(-limit, freedom, shift))
        return float(stats.nct.sf(limit, freedom, shift) + lower - power)

    return float(optimize.brentq(missing, 1e-6, 20.0 / np.sqrt(n)))


@dataclass(frozen=True)
class Slope:
    """Result of a logistic regression on one variable.

    Attributes:
        slope: change of the log odds per unit; NaN if not estimable.
        low: lower end of the 95 % Wald interval.
        high: upper end.
        intercept: log odds at zero.
        n: observations.
        note: "estimated", or "not estimable: " and why.
    """

    slope: float
    low: float
    high: float
    intercept: float
    n: int
    note: str


def logistic(x: Sequence[float], y: Sequence[bool]) -> Slope:
    """Logistic regression of y on x by Newton's method (McCullagh and Nelder 1989), Wald interval.

    Where the values of x separate yes from no, or one of them never varies, the maximum does not
    exist: the result says "not estimable" and why.
    """
    given, said = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=bool)
    trouble = _inestimable(given, said)
    if trouble:
        nan = float("nan")
        return Slope(nan, nan, nan, nan, len(given), f"not estimable: {trouble}")
    centre, scale = given.mean(), given.std()
    design = np.column_stack([np.ones(len(given)), (given - centre) / scale])
    weights = np.zeros(2)
    for _ in range(100):
        chance = special.expit(design @ weights)
        information = design.T @ (design * (chance * (1 - chance))[:, None])
        step = np.linalg.solve(information, design.T @ (said - chance))
        weights += step
        if np.abs(step).max() < 1e-12:
            break
    chance = special.expit(design @ weights)
    information = design.T @ (design * (chance * (1 - chance))[:, None])
    error = float(np.sqrt(np.linalg.inv(information)[1, 1]) / scale)
    slope = float(weights[1] / scale)
    half = float(special.ndtri(0.975)) * error
    intercept = float(weights[0] - slope * centre)
    return Slope(slope, slope - half, slope + half, intercept, len(given), "estimated")


def _inestimable(x: Floats, y: NDArray[np.bool_]) -> str:
    """Why no finite maximum exists (Albert and Anderson 1984), or an empty text."""
    if len(x) < 3:
        return f"only {len(x)} observations"
    if y.all() or not y.any():
        return "every answer is the same"
    if np.ptp(x) == 0:
        return "the load never varies"
    yes, no = x[y], x[~y]
    if yes.max() <= no.min() or no.max() <= yes.min():
        return "the load separates the answers completely"
    return ""


def _sample(values: Sequence[float] | Floats) -> Floats:
    sample: Floats = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not np.isfinite(sample).all():
        raise InputError(f"a sample is a flat list of finite numbers, not {_short(values)}")
    return sample


def _short(values: Any) -> str:
    return f"{values!r:.80}"
