"""Comparisons of two arms by t tests, and Holm's correction for making several of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from virsci_society.metrics.inference.effects import dz_interval, g_interval
from virsci_society.metrics.inference.intervals import t_interval
from virsci_society.metrics.inference.sample import (
    NAN,
    Interval,
    Numbers,
    constant_samples_allowed,
    pairs_of,
    sample_of,
    unbounded,
)


@dataclass(frozen=True)
class ArmDifference:
    """The difference of two arms, with its t test and its effect size.

    Attributes:
        difference: mean of the second minus the first, with its interval; n counts pairs, or the
            values of both arms.
        effect: d_z of pairs, Hedges' g otherwise, with its interval.
        effect_name: ``d_z`` or ``g``.
        t: Student's t.
        freedom: degrees of freedom of t.
        p: two-sided; NaN where it cannot be computed.
        note: empty, or why there is no p.
    """

    difference: Interval
    effect: Interval
    effect_name: str
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
        level: coverage of the intervals, in (0, 1).

    Returns:
        The mean difference and d_z; t and p are NaN, with a note, below two pairs and where the
        differences do not vary.

    Raises:
        InputError: the samples are not of one length.

    Source:
        Student (1908). The probable error of a mean. Biometrika 6.
    """
    before, after = pairs_of(first, second)
    gaps = after - before
    n = len(gaps)
    effect = dz_interval(gaps, level)
    reason = _inestimable(
        n, bool(n) and float(np.ptp(gaps)) > 0, "pair", "the differences do not vary"
    )
    if reason:
        return ArmDifference(t_interval(gaps, level), effect, "d_z", NAN, float(n - 1), NAN, reason)
    with constant_samples_allowed():
        test = scipy.stats.ttest_rel(after, before)
    return _tested(test, float(gaps.mean()), n, effect, "d_z", level)


def welch(first: Numbers, second: Numbers, level: float = 0.95) -> ArmDifference:
    """Welch's t test of two independent arms, second minus first.

    The variances may differ; the degrees of freedom are Satterthwaite's.

    Args:
        first: one number per replicate of the first arm.
        second: one number per replicate of the second arm; n may differ.
        level: coverage of the intervals, in (0, 1).

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
        return ArmDifference(unbounded(difference, n, level), effect, "g", NAN, NAN, NAN, reason)
    with constant_samples_allowed():
        test = scipy.stats.ttest_ind(b, a, equal_var=False)
    return _tested(test, difference, n, effect, "g", level)


def _tested(
    test: Any, difference: float, n: int, effect: Interval, effect_name: str, level: float
) -> ArmDifference:
    """The result of one of scipy's t tests beside the effect size."""
    bounds = test.confidence_interval(level)
    interval = Interval(difference, float(bounds.low), float(bounds.high), n, level)
    return ArmDifference(
        interval, effect, effect_name, float(test.statistic), float(test.df), float(test.pvalue)
    )


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
    adjusted[order] = stepped
    return [float(value) for value in adjusted]
