"""Comparisons of two arms, paired or not, and the correction for making several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from metrics.inference.effects import dz_interval, g_interval
from metrics.inference.intervals import t_interval
from metrics.inference.sample import NAN, Floats, Interval, Numbers, pairs_of, sample_of, unbounded


@dataclass(frozen=True)
class Comparison:
    """The difference of two arms.

    Attributes:
        difference: mean of the second minus the first, with its interval; n counts pairs, or the
            values of both arms.
        effect: d_z of pairs, Hedges' g otherwise, likewise with its interval.
        effect_name: ``d_z`` or ``g``.
        t: Student's t.
        freedom: its degrees of freedom.
        p: two-sided; NaN where it cannot be computed.
        note: empty, or why there is no p.
    """

    difference: Interval
    effect: Interval
    effect_name: str
    t: float
    freedom: float
    p: float
    note: str = ""


def paired(first: Numbers, second: Numbers, level: float = 0.95) -> Comparison:
    """Student's test of paired differences, second minus first (Student 1908).

    Arms of one study share their seeds, so that what a seed does to both leaves the difference.

    Raises:
        InputError: the samples are not of one length.
    """
    before, after = pairs_of(first, second)
    gaps = after - before
    band, n = t_interval(gaps, level), len(gaps)
    effect = dz_interval(gaps, level)
    note = _trouble(n, bool(n) and float(np.ptp(gaps)) > 0, "pair", "the differences do not vary")
    if note:
        return Comparison(band, effect, "d_z", NAN, float(n - 1), NAN, note)
    t = float(gaps.mean() / (gaps.std(ddof=1) / np.sqrt(n)))
    return Comparison(band, effect, "d_z", t, float(n - 1), _two_sided(t, n - 1))


def welch(first: Numbers, second: Numbers, level: float = 0.95) -> Comparison:
    """Welch's test of two independent arms, second minus first (Welch 1947).

    The variances may differ; the degrees of freedom are Satterthwaite's.
    """
    a, b = sample_of(first), sample_of(second)
    fewer, n = min(len(a), len(b)), len(a) + len(b)
    gap = float(b.mean() - a.mean()) if fewer else NAN
    effect = g_interval(b, a, level)
    varies = fewer > 0 and max(float(np.ptp(a)), float(np.ptp(b))) > 0
    note = _trouble(fewer, varies, "value in an arm", "neither arm varies")
    if note:
        return Comparison(unbounded(gap, n, level), effect, "g", NAN, NAN, NAN, note)
    error, freedom = _welch_error(a, b)
    half = float(stats.t.ppf(0.5 + level / 2, freedom)) * error
    band = Interval(gap, gap - half, gap + half, n, level)
    return Comparison(band, effect, "g", gap / error, freedom, _two_sided(gap / error, freedom))


def _welch_error(a: Floats, b: Floats) -> tuple[float, float]:
    """Standard error of the difference, and its degrees of freedom."""
    own = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    whole = own[0] + own[1]
    freedom = whole**2 / (own[0] ** 2 / (len(a) - 1) + own[1] ** 2 / (len(b) - 1))
    return float(np.sqrt(whole)), float(freedom)


def _two_sided(t: float, freedom: float) -> float:
    return float(2 * stats.t.sf(abs(t), freedom))


def _trouble(n: int, varies: bool, unit: str, still: str) -> str:
    if n < 2:
        return f"no {unit}" if n == 0 else f"only one {unit}"
    return "" if varies else still


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p values, in the order given (Holm 1979).

    A comparison that was planned but could not be computed (NaN) stays NaN and still counts as
    planned, so that losing it makes none of the others easier.
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    factors = np.arange(len(given), 0, -1)
    stepped = np.minimum(np.maximum.accumulate(given[order] * factors), 1.0)
    adjusted = np.empty_like(stepped)
    adjusted[order] = stepped
    return [float(value) for value in adjusted]
