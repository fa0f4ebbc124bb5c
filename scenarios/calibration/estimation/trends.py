"""Rates that change over time, as generalized linear models with one slope.

Written by hand: the import of statsmodels takes 4 s, two parameters take ten lines, and its errors
of weighted observations are not of the sandwich form needed here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from virsci_society.agents.arrays import FloatArray

Link = Literal["log", "logit", "identity"]
STEPS = 50
STEEPEST = 30.0
"""Largest linear predictor of a probability, so that no variance vanishes."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One estimated number.

    Attributes:
        value: the estimate.
        error: its standard error; NaN where it is not known.
        n: number of observations it is from.
    """

    value: float
    error: float
    n: int


@dataclass(frozen=True, slots=True)
class Trend:
    """A rate at one date and its change, on the scale of the link function.

    Attributes:
        link: ``log`` for counts, ``logit`` for shares.
        level: of the rate at the date, on the scale of the link.
        level_error: its standard error.
        slope: change of the level per unit of time.
        slope_error: its standard error; NaN where one slope cannot be estimated.
        dispersion: Pearson's chi square over its degrees of freedom, at least 1.
        n: number of periods.
    """

    link: Link
    level: float
    level_error: float
    slope: float
    slope_error: float
    dispersion: float
    n: int

    @property
    def shrunk_slope(self) -> float:
        """The slope, drawn towards zero by as much as its error is large.

        The positive-part James-Stein factor max(0, 1 - (error / slope)^2): a trend that is no
        larger than its error is not continued into the future.
        """
        if not self.slope or not math.isfinite(self.slope_error):
            return 0.0
        kept = 1 - (self.slope_error / self.slope) ** 2
        return self.slope * kept if kept > 0 else 0.0

    @property
    def estimate(self) -> Estimate:
        """The rate at the date, in its own unit, with an error by the delta method."""
        value = unlink(self.link, self.level)
        return Estimate(value, self.level_error * _derivative(self.link, value), self.n)


def to_link(link: Link, value: float) -> float:
    """A rate on the scale of its link; shares are kept away from 0 and 1."""
    if link == "identity":
        return value
    if link == "log":
        return math.log(max(value, 1e-12))
    share = min(max(value, 1e-6), 1 - 1e-6)
    return math.log(share / (1 - share))


def unlink(link: Link, level: float) -> float:
    """The rate of a level on the scale of a link."""
    if link == "identity":
        return level
    if link == "log":
        return math.exp(level)
    return 1 / (1 + math.exp(-level)) if level > -700 else 0.0


def fit_trend(
    times: FloatArray,
    totals: FloatArray,
    exposures: FloatArray,
    link: Link,
    *,
    at: float,
    memory: float = math.inf,
    slope: Trend | None = None,
) -> Trend:
    """Fit a rate with a slope by quasi-likelihood, and continue it to a time.

    The slope is estimated first and shrunk (``Trend.shrunk_slope``); the level at ``at`` is that of
    the line with the shrunk slope, so that a trend within its error moves nothing.

    Args:
        times: of the periods, such as years (periods,).
        totals: events of each period; of shares, how often it was so.
        exposures: time or number of trials of each period, > 0.
        link: ``log`` (Poisson variance) or ``logit`` (binomial variance).
        at: the time at which the level is wanted.
        memory: time before ``at`` after which the weight of a period has fallen to 1/e.
        slope: a trend whose slope is taken instead of one of its own.

    Returns:
        The trend; a slope of zero with an unknown error where there are fewer than three periods.

    Source:
        McCullagh and Nelder (1989), Generalized Linear Models, chapters 4, 6 and 9.
    """
    known = exposures > 0
    times, totals, exposures = times[known], totals[known], exposures[known]
    if not len(times):
        return Trend(link, math.nan, math.nan, 0.0, math.nan, math.nan, 0)
    weights = np.exp(-np.abs(times - at) / memory)
    centre = float((weights * exposures) @ times / max(1e-300, float(weights @ exposures)))
    sloped = len(times) >= 3 and slope is None
    known_slope = 0.0 if slope is None else slope.shrunk_slope
    shift = known_slope * (times - centre)
    design = np.column_stack([np.ones(len(times)), times - centre])[:, : 2 if sloped else 1]
    beta = np.zeros(design.shape[1])
    # Half an event keeps the level finite where nothing, or everything, has happened.
    beta[0] = to_link(link, float((totals.sum() + 0.5) / (exposures.sum() + 1)))
    for _ in range(STEPS):
        eta = np.clip(design @ beta + shift, -STEEPEST, STEEPEST)
        mean = np.exp(eta) if link == "log" else 1 / (1 + np.exp(-eta))
        variance = exposures * (mean if link == "log" else mean * (1 - mean))
        weighted = design * (weights * variance)[:, None]
        information = design.T @ weighted + 1e-12 * np.eye(len(beta))
        step = np.linalg.solve(information, design.T @ (weights * (totals - exposures * mean)))
        step *= min(1.0, 2.0 / max(1e-12, float(np.abs(design @ step).max())))
        beta = beta + step
        if np.abs(step).max() < 1e-10:
            break
    free = len(times) - len(beta)
    pearson = float(((totals - exposures * mean) ** 2 / np.maximum(variance, 1e-12)).sum())
    dispersion = max(1.0, pearson / free) if free > 0 else 1.0
    # Weighted estimating equations have a variance of sandwich form.
    bread = np.linalg.inv(information)
    filling = design.T @ (design * (weights**2 * variance)[:, None])
    errors = np.sqrt(np.diag(bread @ filling @ bread) * dispersion)
    change, slope_error = (float(beta[1]), float(errors[1])) if sloped else (0.0, math.nan)
    if slope is not None:
        change, slope_error = slope.slope, slope.slope_error
    found = Trend(
        link, float(beta[0]), float(errors[0]), change, slope_error, dispersion, len(times)
    )
    ahead = found.shrunk_slope * (at - centre)
    error = math.hypot(float(errors[0]), slope_error * (at - centre) if ahead else 0.0)
    return replace(found, level=found.level + ahead, level_error=error)


def _derivative(link: Link, value: float) -> float:
    return {"identity": 1.0, "log": value, "logit": value * (1 - value)}[link]
