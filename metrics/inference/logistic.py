"""Logistic regression on one variable, with a reason where it cannot be estimated.

Written by hand: every page shows it, and the import of statsmodels would make pages 4 s slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from virsci_society.agents.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class LogisticSlope:
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


def logistic_regression(x: Sequence[float], y: Sequence[bool]) -> LogisticSlope:
    """Logistic regression of y on x by Newton's method, with a Wald interval.

    Where the values of x separate yes from no, or one of them never varies, the maximum does not
    exist: the result says "not estimable" and why.

    Args:
        x: one number per observation.
        y: yes or no for each, in the same order.

    Source:
        McCullagh, P. and Nelder, J. A. (1989). Generalized linear models.
    """
    values, answers = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=bool)
    reason = _inestimable(values, answers)
    if reason:
        nan = float("nan")
        return LogisticSlope(nan, nan, nan, nan, len(values), f"not estimable: {reason}")
    centre, scale = values.mean(), values.std()
    design = np.column_stack([np.ones(len(values)), (values - centre) / scale])
    weights = np.zeros(2)
    for _ in range(100):
        chance = special.expit(design @ weights)
        information = design.T @ (design * (chance * (1 - chance))[:, None])
        step = np.linalg.solve(information, design.T @ (answers - chance))
        weights += step
        if np.abs(step).max() < 1e-12:
            break
    chance = special.expit(design @ weights)
    information = design.T @ (design * (chance * (1 - chance))[:, None])
    error = float(np.sqrt(np.linalg.inv(information)[1, 1]) / scale)
    slope = float(weights[1] / scale)
    half = float(special.ndtri(0.975)) * error
    intercept = float(weights[0] - slope * centre)
    return LogisticSlope(slope, slope - half, slope + half, intercept, len(values), "estimated")


def _inestimable(x: FloatArray, y: BoolArray) -> str:
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
