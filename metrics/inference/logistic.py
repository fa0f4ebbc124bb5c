"""Slopes: one logistic regression, with the words where it cannot be estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from metrics.inference.sample import Floats


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
