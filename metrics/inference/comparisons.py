"""t tests of two arms with effect sizes, their power, and Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from virsci_society.agents.lazy_imports import scipy, special
from virsci_society.metrics.inference.intervals import (
    NAN,
    STUDENT,
    Interval,
    Numbers,
    constant_samples_allowed,
    pairs_of,
    sample_of,
    t_interval,
    unbounded,
)

EQUAL_PAIRS = "every pair is equal"
NOT_EXERCISED = "not exercised: runs differ, and no pair of them does"
"""Notes of a comparison of two arms with the same values, seed by seed: all equal, or varying."""


def cohen_d(first: Numbers, second: Numbers) -> float:
    """Cohen's d: difference of two means over the pooled standard deviation (Cohen 1988)."""
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


def detectable_effect(n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Smallest Cohen's d that two arms of n replicates detect: n = 20 gives 0.91; NaN below 2."""
    return _detectable(n, 2 * n - 2, float(np.sqrt(n / 2)), power, alpha)


def detectable_paired(n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Smallest d_z that n pairs detect with this power: n = 20 gives 0.66; NaN below 2."""
    return _detectable(n, n - 1, float(np.sqrt(n)), power, alpha)


def power_sentences(n: int, paired: bool, tests: int) -> list[str]:
    """The effects that a design finds with a power of 0.8, its planned comparison first."""
    if n < 2:
        return [
            f"With {'1 replicate' if n == 1 else f'{n} replicates'}, no effect can be detected."
        ]
    find, name = (detectable_paired, "d_z") if paired else (detectable_effect, "d")
    of = f"{n} pairs of runs" if paired else f"{n} runs of each arm"
    unit = "standard deviations of the differences" if paired else "standard deviations of an arm"
    sentences = [
        f"Smallest detectable effect with {of}: {name} = {find(n):.2f} ({unit}; 80 % power, "
        "two-sided test at 5 %)."
    ]
    if tests > 1:
        strict = find(n, alpha=0.05 / tests)
        sentences.append(
            f"After Holm's correction for {tests} tests at its strictest: {name} = {strict:.2f}."
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
    """The difference of two arms, with its t test; the effect is d_z of pairs, else Hedges' g."""

    difference: Interval
    effect: float
    test: str
    p: float
    note: str = ""


def paired(first: Numbers, second: Numbers, level: float = 0.95) -> ArmDifference:
    """Student's t test of differences by replicate, second minus first (Student 1908)."""
    before, after = pairs_of(first, second)
    gaps = after - before
    if len(gaps) < 2 or np.ptp(gaps) == 0:
        if len(gaps) < 2:
            reason = "only one pair" if len(gaps) else "no pair"
        elif gaps.any():
            reason = "every pair differs by the same"
        else:
            reason = NOT_EXERCISED if np.ptp(after) > 0 else EQUAL_PAIRS
        return ArmDifference(t_interval(gaps, level), NAN, "paired t", NAN, reason)
    with constant_samples_allowed():
        test = scipy.stats.ttest_rel(after, before)
    low, high = map(float, test.confidence_interval(level))
    gap = Interval(float(gaps.mean()), low, high, len(gaps), level, STUDENT)
    effect = float(gaps.mean() / gaps.std(ddof=1))
    return ArmDifference(gap, effect, "paired t", float(test.pvalue))


def welch(first: Numbers, second: Numbers, level: float = 0.95) -> ArmDifference:
    """Welch's t test of two independent arms, second minus first (Welch 1947)."""
    a, b = sample_of(first), sample_of(second)
    fewer, n = min(len(a), len(b)), len(a) + len(b)
    difference = float(b.mean() - a.mean()) if fewer else NAN
    if fewer < 2 or max(np.ptp(a), np.ptp(b)) == 0:
        few = "only one value in an arm" if fewer else "no value in an arm"
        reason = "neither arm varies" if fewer > 1 else few
        return ArmDifference(unbounded(difference, n, level), NAN, "Welch", NAN, reason)
    with constant_samples_allowed():
        test = scipy.stats.ttest_ind(b, a, equal_var=False)
    low, high = map(float, test.confidence_interval(level))
    gap = Interval(difference, low, high, n, level, "Welch's t")
    effect = cohen_d(b, a) * hedges_factor(n - 2)
    return ArmDifference(gap, effect, "Welch", float(test.pvalue))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p values (Holm 1979); NaN stays NaN and counts as planned."""
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    factors = np.arange(len(given), 0, -1)
    stepped = np.minimum(np.maximum.accumulate(given[order] * factors), 1.0)
    adjusted = np.empty_like(stepped)
    # Back in the order given; NaN sorts last, and keeps the factors of the others.
    adjusted[order] = stepped
    return [float(value) for value in adjusted]
