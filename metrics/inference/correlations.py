"""Pearson, Spearman and partial rank correlations (PRCC) with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from scipy import special

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.sample import NAN, Numbers, pairs_of, sample_of


@dataclass(frozen=True)
class Correlation:
    """A correlation with its interval.

    Attributes:
        r: -1..1; NaN where one side does not vary.
        low: lower end; NaN below four observations.
        high: upper end.
        p: two-sided, against no correlation.
        n: observations.
        note: empty, or what was left out and why.
    """

    r: float
    low: float
    high: float
    p: float
    n: int
    note: str = ""


def pearson(x: Numbers, y: Numbers, level: float = 0.95) -> Correlation:
    """Pearson's correlation with Fisher's z interval.

    Args:
        x: one number per observation.
        y: one number per observation, in the same order.
        level: coverage of the interval, in (0, 1).

    Returns:
        r in -1..1; NaN where one side does not vary; no bounds below four observations.

    Raises:
        InputError: the samples are not of one length.

    Source:
        Fisher, R. A. (1921). On the "probable error" of a coefficient of correlation.
    """
    a, b = pairs_of(x, y)
    return _correlation(_product_moment(a, b), len(a), 0, 1.0, level)


def spearman(x: Numbers, y: Numbers, level: float = 0.95) -> Correlation:
    """Spearman's rank correlation; ties have their mean rank.

    The interval is Fisher's z with the variance of Bonett and Wright (2000),
    (1 + r^2 / 2) / (n - 3).

    Args:
        x: one number per observation.
        y: one number per observation, in the same order.
        level: coverage of the interval, in (0, 1).

    Returns:
        r in -1..1; NaN where one side does not vary; no bounds below four observations.

    Raises:
        InputError: the samples are not of one length.

    Source:
        Bonett, D. G. and Wright, T. A. (2000). Sample size requirements for estimating Pearson,
        Kendall and Spearman correlations. Psychometrika 65.
    """
    a, b = pairs_of(x, y)
    r = _product_moment(_ranks(a), _ranks(b))
    return _correlation(r, len(a), 0, 1.0 + r**2 / 2, level)


def prcc(inputs: Mapping[str, Numbers], y: Numbers, level: float = 0.95) -> dict[str, Correlation]:
    """Partial rank correlation coefficient (PRCC) of each input with y, given the other inputs.

    All values are replaced by ranks; the part that the other inputs explain linearly is subtracted
    from both sides; the residuals are correlated. PRCC suits monotonic effects in a Latin
    hypercube. The degrees of freedom lose one for each other input.

    Args:
        inputs: name of the input -> one value per sample point.
        y: the measure at each sample point (the mean of its replicates).
        level: coverage of the intervals, in (0, 1).

    Returns:
        Name of the input -> its correlation, -1..1 or NaN.

    Raises:
        InputError: an input and y differ in length.

    Source:
        Marino, S. et al. (2008). A methodology for performing global uncertainty and sensitivity
        analysis in systems biology. Journal of Theoretical Biology 254.
    """
    measured = _ranks(sample_of(y))
    ranked = {name: _ranks(sample_of(values)) for name, values in inputs.items()}
    for name, ranks in ranked.items():
        if len(ranks) != len(measured):
            raise InputError(f"{name} has {len(ranks)} values, the measure {len(measured)}")
    correlations = {}
    for name, own in ranked.items():
        others = [ranks for other, ranks in ranked.items() if other != name]
        residuals = _residuals(own, others), _residuals(measured, others)
        r = _product_moment(*residuals)
        correlations[name] = _correlation(r, len(measured), len(others), 1.0 + r**2 / 2, level)
    return correlations


def _correlation(r: float, n: int, given: int, spread: float, level: float) -> Correlation:
    """Interval and p of a correlation of n observations, ``given`` others held constant."""
    freedom = n - 2 - given
    if not np.isfinite(r) or freedom < 1:
        return Correlation(r, NAN, NAN, NAN, n)
    away = 1 - r * r
    t = r * np.sqrt(freedom / away) if away > 0 else np.inf
    p = float(2 * scipy.stats.t.sf(abs(t), freedom))
    if freedom < 2:
        return Correlation(r, NAN, NAN, p, n)
    half = float(special.ndtri(0.5 + level / 2)) * float(np.sqrt(spread / (freedom - 1)))
    with np.errstate(divide="ignore"):
        centre = np.arctanh(r)
    return Correlation(r, float(np.tanh(centre - half)), float(np.tanh(centre + half)), p, n)


def _product_moment(x: FloatArray, y: FloatArray) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return NAN
    a, b = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip(a @ b / scale, -1.0, 1.0)) if scale > 0 else NAN


def _ranks(values: FloatArray) -> FloatArray:
    return np.asarray(scipy.stats.rankdata(values), dtype=np.float64)


def _residuals(values: FloatArray, others: list[FloatArray]) -> FloatArray:
    """Residuals of the values regressed on the others; zero where the others explain everything."""
    design = np.column_stack([np.ones(len(values)), *others])
    left: FloatArray = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    # Rounding leaves 1e-13 where the others explain everything: that is no variation.
    explained = np.abs(left).max(initial=0.0) <= 1e-9 * max(len(values), 1)
    return np.zeros_like(left) if explained else left
