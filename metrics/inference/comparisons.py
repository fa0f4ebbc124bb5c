"""Effect sizes of two arms with intervals, their t tests, and corrections for several tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from scipy import special

from virsci_society.metrics.inference.intervals import (
    NAN,
    Interval,
    Numbers,
    constant_samples_allowed,
    pairs_of,
    sample_of,
    t_interval,
    unbounded,
)

NONCENTRAL = "noncentral t"
EQUAL_PAIRS = "every pair is equal"
"""The note of a comparison of two arms that gave the same values, seed by seed."""
MAX_WIDENINGS = 60
"""Widenings of the bracket before an interval of an effect is given up."""


def cohen_d(first: Numbers, second: Numbers) -> float:
    """Cohen's d: difference of two means over the pooled standard deviation (Cohen 1988).

    Returns:
        Mean of the first minus mean of the second, standardised; NaN below two values in a sample,
        and where neither varies.
    """
    a, b = sample_of(first), sample_of(second)
    if len(a) < 2 or len(b) < 2:
        return NAN
    weights = (len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)
    pooled = np.sqrt(weights / (len(a) + len(b) - 2))
    return float((a.mean() - b.mean()) / pooled) if pooled > 0 else NAN


def hedges_factor(freedom: int) -> float:
    """The factor that corrects Cohen's d for its small-sample bias, exact (Hedges 1981)."""
    if freedom < 2:
        return NAN
    log_factor = special.gammaln(freedom / 2) - special.gammaln((freedom - 1) / 2)
    return float(np.exp(log_factor) / np.sqrt(freedom / 2))


def d_interval(first: Numbers, second: Numbers, level: float = 0.95) -> Interval:
    """Cohen's d of two independent samples with its interval.

    The interval inverts the noncentral t distribution (Steiger and Fouladi 1997), which is exact
    for normal values of one variance.

    Returns:
        d, first minus second, with its bounds; n counts the values of both samples. NaN below two
        values in a sample.
    """
    a, b = sample_of(first), sample_of(second)
    d, n = cohen_d(a, b), len(a) + len(b)
    if not np.isfinite(d):
        return unbounded(NAN, n, level)
    scale = float(np.sqrt(len(a) * len(b) / n))
    low, high = _noncentralities(d * scale, n - 2, level)
    return Interval(d, low / scale, high / scale, n, level, NONCENTRAL)


def g_interval(first: Numbers, second: Numbers, level: float = 0.95) -> Interval:
    """Hedges' g of two independent samples; the interval is that of d times the same factor."""
    band = d_interval(first, second, level)
    factor = hedges_factor(band.n - 2)
    value, low, high = (factor * number for number in (band.value, band.low, band.high))
    return Interval(value, low, high, band.n, level, band.method)


def dz_interval(differences: Numbers, level: float = 0.95) -> Interval:
    """Cohen's d_z: mean of paired differences over their deviation, with a noncentral t interval.

    Returns:
        d_z with its bounds; NaN below two pairs, and where the differences do not vary.
    """
    gaps = sample_of(differences)
    n = len(gaps)
    # Both: the deviation of equal numbers may miss zero by rounding.
    if n < 2 or not gaps.std(ddof=1) > 0 or np.ptp(gaps) == 0:
        return unbounded(NAN, n, level)
    d = float(gaps.mean() / gaps.std(ddof=1))
    low, high = _noncentralities(d * np.sqrt(n), n - 1, level)
    return Interval(d, low / np.sqrt(n), high / np.sqrt(n), n, level, NONCENTRAL)


def _noncentralities(t: float, freedom: int, level: float) -> tuple[float, float]:
    """The noncentralities of which this t is the upper and the lower limit; NaN if not found."""
    tail = (1 - level) / 2
    return _noncentrality(t, freedom, 1 - tail, -1), _noncentrality(t, freedom, tail, 1)


def _noncentrality(t: float, freedom: int, share: float, way: int) -> float:
    def excess(shift: float) -> float:
        return float(scipy.stats.nct.cdf(t, freedom, shift)) - share

    near, far, step = t, t + way, 1.0
    # The share falls as the shift grows; the bracket is widened until it holds the root. Small
    # samples put the far end on the other side of t itself.
    for _ in range(MAX_WIDENINGS):
        low, high = sorted((near, far))
        ends = excess(low), excess(high)
        if not np.isfinite(ends).all():
            return NAN
        if ends[0] >= 0 >= ends[1]:
            return float(scipy.optimize.brentq(excess, low, high, xtol=1e-10))
        step *= 1.5
        near, far = t - way * step, t + way * step
    return NAN


def detectable_effect(n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Smallest Cohen's d that two arms of n replicates each detect with this power.

    Two-sided t test, noncentral t (Cohen 1988): n = 20 gives 0.91.

    Returns:
        d > 0; NaN for n < 2.
    """
    return _detectable(n, 2 * n - 2, float(np.sqrt(n / 2)), power, alpha)


def detectable_paired(n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Smallest d_z that n pairs detect with this power: n = 20 gives 0.66.

    Returns:
        d_z > 0; NaN for n < 2.
    """
    return _detectable(n, n - 1, float(np.sqrt(n)), power, alpha)


def power_sentences(n: int, paired: bool, tests: int) -> list[str]:
    """The effects that a design finds with a power of 0.8, its planned comparison first."""
    if n < 2:
        return [
            f"{n} {'replicate' if n == 1 else 'replicates'}: no effect can be told from chance."
        ]
    find, name = (detectable_paired, "d_z") if paired else (detectable_effect, "d")
    of = "pairs of runs find a mean difference" if paired else "runs of each arm find a difference"
    unit = "the differences" if paired else "an arm"
    sentences = [
        f"{n} {of} of {find(n):.2f} standard deviations of {unit} ({name}) at 80 % power, by a "
        "two-sided test at 5 %."
    ]
    if tests > 1:
        strict = find(n, alpha=0.05 / tests)
        sentences.append(
            f"Where Holm is at its strictest, as for the smallest of {tests} p values, it is "
            f"{strict:.2f}."
        )
    if paired:
        sentences.append(
            f"Two arms of {n} runs with seeds of their own would find {detectable_effect(n):.2f} "
            "standard deviations of an arm (d)."
        )
    return sentences


def _detectable(n: int, freedom: int, scale: float, power: float, alpha: float) -> float:
    if n < 2:
        return NAN
    limit = scipy.stats.t.ppf(1 - alpha / 2, freedom)

    def missing(effect: float) -> float:
        """Power at this effect, less the power wanted."""
        shift = effect * scale
        # Far from zero the lower tail underflows to NaN where it is nothing.
        lower = np.nan_to_num(scipy.stats.nct.cdf(-limit, freedom, shift))
        return float(scipy.stats.nct.sf(limit, freedom, shift) + lower - power)

    # At the upper end the effect is found all but always, whatever the power wanted.
    return float(scipy.optimize.brentq(missing, 1e-6, (limit + 15.0 * (1 + limit)) / scale))


@dataclass(frozen=True)
class ArmDifference:
    """The difference of two arms, with its t test and its effect size.

    Attributes:
        difference: mean of the second minus the first, with its interval; n counts pairs, or the
            values of both arms.
        freedom: degrees of freedom of t.
        p: two-sided; NaN where it cannot be computed.
    """

    difference: Interval
    effect: Interval
    effect_name: str
    test: str
    t: float
    degrees_of_freedom: float
    p: float
    note: str = ""


def paired(first: Numbers, second: Numbers, level: float = 0.95) -> ArmDifference:
    """Student's t test of paired differences, second minus first.

    Arms of one study share their seeds, so that what a seed does to both leaves the difference.

    Args:
        first: one number per replicate of the first arm.
        second: the same replicates of the second arm, in the same order.

    Returns:
        The mean difference and d_z; t and p are NaN, with a note, below two pairs and where every
        pair differs by the same, or by nothing.

    Source:
        Student (1908). The probable error of a mean. Biometrika 6.
    """
    before, after = pairs_of(first, second)
    gaps = after - before
    n = len(gaps)
    effect = dz_interval(gaps, level)
    constant = "every pair differs by the same" if gaps.any() else EQUAL_PAIRS
    reason = _inestimable(n, bool(n) and float(np.ptp(gaps)) > 0, "pair", constant)
    if reason:
        gap, freedom = t_interval(gaps, level), float(n - 1)
        return ArmDifference(gap, effect, "d_z", "paired t", NAN, freedom, NAN, reason)
    with constant_samples_allowed():
        test = scipy.stats.ttest_rel(after, before)
    bounds = test.confidence_interval(level)
    gap = Interval(
        float(gaps.mean()), float(bounds.low), float(bounds.high), n, level, "Student's t"
    )
    return ArmDifference(gap, effect, "d_z", "paired t", *_statistics(test))


def welch(first: Numbers, second: Numbers, level: float = 0.95) -> ArmDifference:
    """Welch's t test of two independent arms, second minus first.

    The variances may differ; the degrees of freedom are Satterthwaite's.

    Args:
        first: one number per replicate of the first arm.
        second: one number per replicate of the second arm; n may differ.

    Returns:
        The difference of the means and Hedges' g; t and p are NaN, with a note, below two values
        in an arm and where neither arm varies.

    Source:
        Welch, B. L. (1947). The generalization of "Student's" problem when several different
        population variances are involved. Biometrika 34.
    """
    a, b = sample_of(first), sample_of(second)
    fewer, n = min(len(a), len(b)), len(a) + len(b)
    difference = float(b.mean() - a.mean()) if fewer else NAN
    effect = g_interval(b, a, level)
    varies = fewer > 0 and max(float(np.ptp(a)), float(np.ptp(b))) > 0
    reason = _inestimable(fewer, varies, "value in an arm", "neither arm varies")
    if reason:
        gap = unbounded(difference, n, level)
        return ArmDifference(gap, effect, "g", "Welch", NAN, NAN, NAN, reason)
    with constant_samples_allowed():
        test = scipy.stats.ttest_ind(b, a, equal_var=False)
    bounds = test.confidence_interval(level)
    gap = Interval(difference, float(bounds.low), float(bounds.high), n, level, "Welch's t")
    return ArmDifference(gap, effect, "g", "Welch", *_statistics(test))


def _statistics(test: Any) -> tuple[float, float, float]:
    """Statistic, degrees of freedom and p of one of scipy's t tests."""
    return float(test.statistic), float(test.df), float(test.pvalue)


def _inestimable(n: int, varies: bool, unit: str, constant: str) -> str:
    """Why a test cannot be computed, or an empty text."""
    if n < 2:
        return f"no {unit}" if n == 0 else f"only one {unit}"
    return "" if varies else constant


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p values.

    A comparison that was planned but could not be computed (NaN) stays NaN and still counts as
    planned, so that losing it makes none of the others easier.

    Args:
        p_values: of all planned comparisons, each 0..1 or NaN.

    Returns:
        The adjusted p values, 0..1 or NaN, in the order given.

    Source:
        Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian
        Journal of Statistics 6.
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    factors = np.arange(len(given), 0, -1)
    stepped = np.minimum(np.maximum.accumulate(given[order] * factors), 1.0)
    adjusted = np.empty_like(stepped)
    # Back in the order given; NaN sorts last, and keeps the factors of the others.
    adjusted[order] = stepped
    return [float(value) for value in adjusted]
