"""The two-lines test for an inverted U, and logistic regression on one variable.

Logistic regression is written here, since importing statsmodels would make pages 4 s slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from virsci_society.agents.arrays import BoolArray, FloatArray
from virsci_society.agents.lazy_imports import scipy, special
from virsci_society.metrics.inference.intervals import NAN, Numbers, pairs_of

MAX_MEANS = 9
"""Most distinct values of x at which the curve is the mean at each; else a cubic spline."""
KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)
"""Quantiles of the spline's knots (Harrell 2001)."""


@dataclass(frozen=True)
class FittedLine:
    """Slope of one line with its 95 % interval and two-sided p, on n observations."""

    slope: float
    low: float
    high: float
    p: float
    n: int


NO_LINE = FittedLine(NAN, NAN, NAN, NAN, 0)


@dataclass(frozen=True)
class TwoLines:
    """Result of the two-lines test for an inverted U."""

    break_point: float
    first: FittedLine
    second: FittedLine
    p: float
    n: int
    note: str
    test: str = "two lines"


def inverted_u(x: Numbers, y: Numbers, alpha: float = 0.05) -> TwoLines:
    """The two-lines test for an inverted U, break by the Robin Hood rule (Simonsohn 2018)."""
    at, measured = pairs_of(x, y)
    distinct, n = len(np.unique(at)), len(at)
    if distinct < 3:
        many = f"{distinct} distinct {'value' if distinct == 1 else 'values'}, three are needed"
        return TwoLines(NAN, NO_LINE, NO_LINE, NAN, n, f"not estimable: {many}")
    # Two lines that meet in the middle of the flat region about the top give the strengths of both;
    # the break then moves to where the weaker line gets more of the data.
    flat = _flat_region(at, measured)
    break_point = float(np.median(flat))
    first, second = _lines(at, measured, break_point)
    strengths = [abs(line.slope) / _standard_error(line) for line in (first, second)]
    if np.isfinite(strengths).all() and sum(strengths) > 0:
        break_point = float(np.quantile(flat, strengths[1] / sum(strengths)))
        first, second = _lines(at, measured, break_point)
    if not np.isfinite([first.p, second.p]).all():
        note = "not estimable: a line rests on too few replicates"
        return TwoLines(break_point, first, second, NAN, n, note)
    if first.slope > 0 > second.slope:
        p = max(first.p, second.p)
        note = "rises, then falls" if p < alpha else "rises, then falls, within chance"
        return TwoLines(break_point, first, second, p, n, note)
    one, other = ("rises" if line.slope > 0 else "falls" for line in (first, second))
    note = f"no inverted U: {one}, then {other}"
    return TwoLines(break_point, first, second, 1.0, n, note)


def _flat_region(x: FloatArray, y: FloatArray) -> FloatArray:
    """The x of all observations in the flat region about the highest point of the curve."""
    distinct, index = np.unique(x, return_inverse=True)
    design = np.eye(len(distinct))[index] if len(distinct) <= MAX_MEANS else _spline(x)
    bread = np.linalg.pinv(design.T @ design)
    height = design @ (bread @ (design.T @ y))
    freedom = len(x) - np.linalg.matrix_rank(design)
    noise = float(((y - height) ** 2).sum() / freedom) if freedom > 0 else 0.0
    lever = np.einsum("ij,jk,ik->i", design, bread, design)
    error = np.sqrt(np.clip(lever, 0, None) * noise)
    low, high = np.quantile(x, [0.1, 0.9])
    inside = (x > low) & (x < high)
    if not inside.any():
        inside = (x > x.min()) & (x < x.max())
    top = height[inside].max()
    return np.asarray(x[inside & (height + error >= top)], dtype=np.float64)


def _spline(x: FloatArray) -> FloatArray:
    """Natural (restricted) cubic spline: linear beyond its outer knots (Harrell 2001)."""
    scaled = (x - x.min()) / np.ptp(x)
    knots = np.unique(np.quantile(scaled, KNOTS))

    def cube(knot: float) -> FloatArray:
        return np.asarray(np.clip(scaled - knot, 0, None) ** 3, dtype=np.float64)

    last, before = knots[-1], knots[-2]
    columns = [np.ones(len(x)), scaled]
    for knot in knots[:-2]:
        share = (last - knot) / (last - before)
        columns.append(cube(knot) - share * cube(before) + (share - 1) * cube(last))
    return np.column_stack(columns)


def _lines(x: FloatArray, y: FloatArray, break_point: float) -> tuple[FittedLine, FittedLine]:
    """Both lines; an observation at the break belongs to each, as in the paper's two models."""
    return _line(x[x <= break_point], y[x <= break_point]), _line(
        x[x >= break_point], y[x >= break_point]
    )


def _line(x: FloatArray, y: FloatArray) -> FittedLine:
    n = len(x)
    if n < 3 or np.ptp(x) == 0:
        return FittedLine(NAN, NAN, NAN, NAN, n)
    gaps = x - x.mean()
    spread = float(gaps @ gaps)
    slope = float(gaps @ y / spread)
    left = y - y.mean() - slope * gaps
    kept = 1 - (1 / n + gaps**2 / spread)
    # A point with leverage 1 has no residual, and HC3 would divide by 0.
    if kept.min() < 1e-9:
        return FittedLine(slope, NAN, NAN, NAN, n)
    error = float(np.sqrt(((gaps * left / kept) ** 2).sum()) / spread)
    if not error > 0:
        return FittedLine(slope, NAN, NAN, NAN, n)
    half = float(scipy.stats.t.ppf(0.975, n - 2)) * error
    p = float(2 * scipy.stats.t.sf(abs(slope) / error, n - 2))
    return FittedLine(slope, slope - half, slope + half, p, n)


def _standard_error(line: FittedLine) -> float:
    """Standard error of a slope, from its interval; NaN where there is none."""
    if not np.isfinite(line.low):
        return NAN
    return (line.high - line.slope) / float(scipy.stats.t.ppf(0.975, line.n - 2))


@dataclass(frozen=True)
class LogisticSlope:
    """Result of a logistic regression on one variable."""

    slope: float
    low: float
    high: float
    intercept: float
    n: int
    note: str


def logistic_fit(features: FloatArray, happened: BoolArray, ridge: float = 1.0) -> FloatArray:
    """Coefficients of a logistic regression, intercept first (Newton's method, small ridge)."""
    x = np.column_stack([np.ones(len(features)), features])
    penalty = np.diag([0.0, *[ridge] * features.shape[1]])
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        slope = x.T @ (happened - p) - penalty @ beta
        step = np.linalg.solve(
            (x * (p * (1 - p))[:, None]).T @ x + penalty + 1e-9 * np.eye(len(beta)), slope
        )
        beta += step
        if np.abs(step).max() < 1e-8:
            break
    return beta


def logistic_regression(x: Sequence[float], y: Sequence[bool]) -> LogisticSlope:
    """Logistic regression of y on x, with a Wald interval."""
    values, answers = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=bool)
    reason = _no_maximum(values, answers)
    if reason:
        nan = float("nan")
        return LogisticSlope(nan, nan, nan, nan, len(values), f"not estimable: {reason}")
    # Standardised, so that the steps do not depend on the unit.
    centre, scale = values.mean(), values.std()
    scaled = (values - centre) / scale
    weights = logistic_fit(scaled[:, None], answers, ridge=0.0)
    design = np.column_stack([np.ones(len(values)), scaled])
    chance = special.expit(design @ weights)
    information = design.T @ (design * (chance * (1 - chance))[:, None])
    error = float(np.sqrt(np.linalg.inv(information)[1, 1]) / scale)
    slope = float(weights[1] / scale)
    half = float(special.ndtri(0.975)) * error
    intercept = float(weights[0] - slope * centre)
    return LogisticSlope(slope, slope - half, slope + half, intercept, len(values), "estimated")


def _no_maximum(x: FloatArray, y: BoolArray) -> str:
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
