"""Correlations with intervals: Pearson, Spearman, and partial rank correlations of many inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from agents.errors import InputError
from metrics.inference.sample import NAN, Floats, Numbers, pairs_of, sample_of


@dataclass(frozen=True)
class Correlation:
    """A correlation with its interval.

    Attributes:
        r: -1..1; NaN where one side does not vary.
        low: lower end; NaN below four observations.
        high: upper end.
        p: two-sided, against no correlation.
        n: observations.
    """

    r: float
    low: float
    high: float
    p: float
    n: int


def pearson(x: Numbers, y: Numbers, level: float = 0.95) -> Correlation:
    """Pearson's correlation with Fisher's z interval (Fisher 1921)."""
    a, b = pairs_of(x, y)
    return _correlation(_product_moment(a, b), len(a), 0, 1.0, level)


def spearman(x: Numbers, y: Numbers, level: float = 0.95) -> Correlation:
    """Spearman's rank correlation, ties at their mean rank.

    The interval is Fisher's z with the variance of Bonett and Wright (2000),
    (1 + r^2 / 2) / (n - 3).
    """
    a, b = pairs_of(x, y)
    r = _product_moment(_ranks(a), _ranks(b))
    return _correlation(r, len(a), 0, 1.0 + r**2 / 2, level)


def prcc(inputs: Mapping[str, Numbers], y: Numbers, level: float = 0.95) -> dict[str, Correlation]:
    """Partial rank correlation of each input with y, given the other inputs (Marino et al. 2008).

    Everything is put into ranks; what the other inputs explain linearly is taken out of both
    sides; what is left is correlated. For monotonic effects in a Latin hypercube. The degrees of
    freedom lose one for each other input.

    Args:
        inputs: name of the input -> one value per sample point.
        y: the measure at each sample point (the mean of its replicates).
        level: coverage of the intervals.

    Raises:
        InputError: not as many values of an input as of y.
    """
    measured = _ranks(sample_of(y))
    ranked = {name: _ranks(sample_of(values)) for name, values in inputs.items()}
    for name, ranks in ranked.items():
        if len(ranks) != len(measured):
            raise InputError(f"{name} has {len(ranks)} values, the measure {len(measured)}")
    found = {}
    for name, own in ranked.items():
        others = [ranks for other, ranks in ranked.items() if other != name]
        left = _unexplained(own, others), _unexplained(measured, others)
        r = _product_moment(*left)
        found[name] = _correlation(r, len(measured), len(others), 1.0 + r**2 / 2, level)
    return found


def _correlation(r: float, n: int, given: int, spread: float, level: float) -> Correlation:
    """Interval and p of a correlation of n observations, ``given`` others held constant."""
    freedom = n - 2 - given
    if not np.isfinite(r) or freedom < 1:
        return Correlation(r, NAN, NAN, NAN, n)
    away = 1 - r * r
    t = r * np.sqrt(freedom / away) if away > 0 else np.inf
    p = float(2 * stats.t.sf(abs(t), freedom))
    if freedom < 2:
        return Correlation(r, NAN, NAN, p, n)
    half = float(special.ndtri(0.5 + level / 2)) * float(np.sqrt(spread / (freedom - 1)))
    with np.errstate(divide="ignore"):
        centre = np.arctanh(r)
    return Correlation(r, float(np.tanh(centre - half)), float(np.tanh(centre + half)), p, n)


def _product_moment(x: Floats, y: Floats) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return NAN
    a, b = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip(a @ b / scale, -1.0, 1.0)) if scale > 0 else NAN


def _ranks(values: Floats) -> Floats:
    return np.asarray(stats.rankdata(values), dtype=np.float64)


def _unexplained(values: Floats, others: list[Floats]) -> Floats:
    """What is left of the values when the others are regressed out; zero where nothing is."""
    design = np.column_stack([np.ones(len(values)), *others])
    left: Floats = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    # Rounding leaves 1e-13 where the others explain everything: that is no variation.
    explained = np.abs(left).max(initial=0.0) <= 1e-9 * max(len(values), 1)
    return np.zeros_like(left) if explained else left
