"""Shapes: does a measure first rise and then fall? The two-lines test (Simonsohn 2018).

A quadratic term is significant for many curves that never fall, so the question is put to two
straight lines: one up to a break, one from it on. The Robin Hood rule sets the break where the
weaker line gets more of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from metrics.inference.sample import NAN, Floats, Numbers, pairs_of

FEW = 9
"""Up to so many distinct places the curve is the mean at each; above, a cubic spline."""
KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)
"""Quantiles of the spline's knots (Harrell 2001)."""


@dataclass(frozen=True)
class Line:
    """Slope of one line with its 95 % interval and two-sided p, on n observations.

    The error is HC3 (MacKinnon and White 1985): it needs no equal spread along the line.
    """

    slope: float
    low: float
    high: float
    p: float
    n: int


NO_LINE = Line(NAN, NAN, NAN, NAN, 0)


@dataclass(frozen=True)
class TwoLines:
    """Result of the two-lines test for an inverted U.

    Attributes:
        at: where the first line ends and the second begins.
        first: line up to there.
        second: line from there on.
        p: of the inverted U: the larger of the two, both slopes being needed; 1 where a slope
            has the other sign; NaN if not estimable.
        n: observations.
        note: what was found, or "not estimable: " and why.
    """

    at: float
    first: Line
    second: Line
    p: float
    n: int
    note: str


def inverted_u(x: Numbers, y: Numbers, alpha: float = 0.05) -> TwoLines:
    """The two-lines test for an inverted U, break by the Robin Hood rule (Simonsohn 2018).

    1. A flexible curve of y on x with its standard error: the mean at each x where these are
       few, a natural cubic spline with five knots otherwise (the paper smooths with a penalised
       spline).
    2. Its highest point among the middle 80 % of x, and the flat region: where the curve plus one
       standard error reaches that height.
    3. Two lines, with the break at the median of the flat region, give the sizes z1 and z2 of
       their test statistics.
    4. The break moves to the quantile z2 / (z1 + z2) of the flat region, and both lines are
       fitted again. An inverted U needs the first to rise and the second to fall, both at alpha.

    Args:
        x: the varied quantity, one value per replicate.
        y: the measure.
        alpha: a larger p is within chance, as the note says.

    Raises:
        InputError: the samples are not of one length.
    """
    at, measured = pairs_of(x, y)
    trouble = _inestimable(at)
    if trouble:
        return TwoLines(NAN, NO_LINE, NO_LINE, NAN, len(at), f"not estimable: {trouble}")
    flat = _flat(at, measured)
    first, second = _lines(at, measured, float(np.median(flat)))
    strength = [abs(line.slope) / _error(line) for line in (first, second)]
    if np.isfinite(strength).all() and sum(strength) > 0:
        place = float(np.quantile(flat, strength[1] / sum(strength)))
    else:
        place = float(np.median(flat))
    first, second = _lines(at, measured, place)
    return _verdict(place, first, second, len(at), alpha)


def _verdict(place: float, first: Line, second: Line, n: int, alpha: float) -> TwoLines:
    if not np.isfinite([first.p, second.p]).all():
        note = "not estimable: a line rests on too few replicates"
        return TwoLines(place, first, second, NAN, n, note)
    if first.slope > 0 > second.slope:
        p = max(first.p, second.p)
        note = "rises, then falls" if p < alpha else "rises, then falls, within chance"
        return TwoLines(place, first, second, p, n, note)
    ways = ["rises" if line.slope > 0 else "falls" for line in (first, second)]
    return TwoLines(place, first, second, 1.0, n, f"no inverted U: {ways[0]}, then {ways[1]}")


def _inestimable(x: Floats) -> str:
    places = len(np.unique(x))
    if places < 3:
        return f"{places} distinct {'value' if places == 1 else 'values'}, three are needed"
    return ""


def _flat(x: Floats, y: Floats) -> Floats:
    """The x of all observations in the flat region about the highest point of the curve."""
    height, error = _curve(x, y)
    low, high = np.quantile(x, [0.1, 0.9])
    inside = (x > low) & (x < high)
    if not inside.any():
        inside = (x > x.min()) & (x < x.max())
    top = height[inside].max()
    return np.asarray(x[inside & (height + error >= top)], dtype=np.float64)


def _curve(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Height and standard error of a flexible curve at every observation."""
    places, number = np.unique(x, return_inverse=True)
    design = np.eye(len(places))[number] if len(places) <= FEW else _spline(x)
    bread = np.linalg.pinv(design.T @ design)
    fitted = design @ (bread @ (design.T @ y))
    freedom = len(x) - np.linalg.matrix_rank(design)
    noise = float(((y - fitted) ** 2).sum() / freedom) if freedom > 0 else 0.0
    lever = np.einsum("ij,jk,ik->i", design, bread, design)
    return fitted, np.sqrt(np.clip(lever, 0, None) * noise)


def _spline(x: Floats) -> Floats:
    """Natural (restricted) cubic spline: linear beyond its outer knots (Harrell 2001)."""
    scaled = (x - x.min()) / np.ptp(x)
    knots = np.unique(np.quantile(scaled, KNOTS))

    def cube(knot: float) -> Floats:
        return np.asarray(np.clip(scaled - knot, 0, None) ** 3, dtype=np.float64)

    last, before = knots[-1], knots[-2]
    columns = [np.ones(len(x)), scaled]
    for knot in knots[:-2]:
        share = (last - knot) / (last - before)
        columns.append(cube(knot) - share * cube(before) + (share - 1) * cube(last))
    return np.column_stack(columns)


def _lines(x: Floats, y: Floats, place: float) -> tuple[Line, Line]:
    """Both lines; an observation at the break belongs to each, as in the paper's two models.

    With its own intercept on each side, the interrupted regression is two regressions.
    """
    return _line(x[x <= place], y[x <= place]), _line(x[x >= place], y[x >= place])


def _line(x: Floats, y: Floats) -> Line:
    n = len(x)
    if n < 3 or np.ptp(x) == 0:
        return Line(NAN, NAN, NAN, NAN, n)
    gaps = x - x.mean()
    spread = float(gaps @ gaps)
    slope = float(gaps @ y / spread)
    left = y - y.mean() - slope * gaps
    kept = 1 - (1 / n + gaps**2 / spread)
    if kept.min() < 1e-9:
        return Line(slope, NAN, NAN, NAN, n)
    error = float(np.sqrt(((gaps * left / kept) ** 2).sum()) / spread)
    if not error > 0:
        return Line(slope, NAN, NAN, NAN, n)
    half = float(stats.t.ppf(0.975, n - 2)) * error
    p = float(2 * stats.t.sf(abs(slope) / error, n - 2))
    return Line(slope, slope - half, slope + half, p, n)


def _error(line: Line) -> float:
    """Standard error of a slope, from its interval; NaN where there is none."""
    if not np.isfinite(line.low):
        return NAN
    return (line.high - line.slope) / float(stats.t.ppf(0.975, line.n - 2))
