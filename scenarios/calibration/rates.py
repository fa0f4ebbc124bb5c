"""Rates that change over time, and counts that vary more than chance alone makes them.

Not by statsmodels: its import takes 4 s, and it has neither these errors nor a beta-binomial.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.scenarios.calibration.parameters import Link, to_link, unlink

STEPS = 50
DAMPING = 0.85
"""What is left of a trend after a year (Gardner and McKenzie 1985, Management Science 31:1237). Of
usual values (0.8 to 0.98), chosen on the papers before 2010 of the two fields on which the
mechanism was made."""
STEEPEST = 30.0
"""Largest linear predictor of a probability, so that no variance vanishes."""
WIDEST = 1e4
"""Largest concentration; above it a beta-binomial is a binomial."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One estimated number with its standard error, NaN where it is not known."""

    value: float = math.nan
    error: float = math.nan
    n: int = 0


@dataclass(frozen=True, slots=True)
class Trend:
    """A rate at one date and its change a year, on the scale of the link function.

    ``age``: years from the middle of what the level was counted on to the date.
    """

    link: Link
    level: float
    level_error: float
    slope: float
    slope_error: float
    n: int
    age: float = 0.0

    @property
    def shrunk_slope(self) -> float:
        """The slope times James and Stein's factor max(0, 1 - (error / slope)^2)."""
        if not self.slope or not math.isfinite(self.slope_error):
            return 0.0
        kept = 1 - (self.slope_error / self.slope) ** 2
        return self.slope * kept if kept > 0 else 0.0

    @property
    def damped_slope(self) -> float:
        """The shrunk slope at the date, damped from ``age`` years before on."""
        return float(self.shrunk_slope * DAMPING**self.age)

    @property
    def estimate(self) -> Estimate:
        """The rate at the date, in its own unit, with an error by the delta method."""
        value = unlink(self.link, self.level)
        derivative = {"identity": 1.0, "log": value, "logit": value * (1 - value)}[self.link]
        return Estimate(value, self.level_error * derivative, self.n)


def fit_trend(
    times: FloatArray,
    totals: FloatArray,
    exposures: FloatArray,
    link: Link,
    *,
    at: float,
    memory: float = math.inf,
) -> Trend:
    """Fit a rate with a slope by quasi-likelihood, and continue it to a time.

    The slope is shrunk; the level is that of the latest periods (McCullagh and Nelder 1989,
    chapters 4, 6 and 9). After ``memory`` years the weight of a period in the level is 1/e.
    """
    known = exposures > 0
    times, totals, exposures = times[known], totals[known], exposures[known]
    if not len(times):
        return Trend(link, math.nan, math.nan, 0.0, math.nan, 0)
    counts = totals, exposures, link
    weights = np.exp(-np.abs(times - at) / memory)
    centre = float((weights * exposures) @ (times - at) / max(1e-300, float(weights @ exposures)))
    ones = np.ones(len(times))
    change, slope_error, dispersion = 0.0, math.nan, None
    if len(times) >= 3:
        # From ``at`` first, so that the same years are the same numbers in any calendar.
        since = times - at
        design = np.column_stack([ones, since - since.mean()])
        beta, errors, dispersion = _regression(design, *counts, ones, 0 * ones)
        change, slope_error = float(beta[1]), float(errors[1])
    found = Trend(link, 0.0, 0.0, change, slope_error, len(times), -centre)
    offset = found.shrunk_slope * (times - at - centre)
    beta, errors, _ = _regression(ones[:, None], *counts, weights, offset, dispersion)
    # From the middle of what was counted to the date the slope is damped as it is beyond.
    ahead = (found.damped_slope - found.shrunk_slope) / math.log(DAMPING)
    error = math.hypot(float(errors[0]), slope_error * found.age if ahead else 0.0)
    return replace(found, level=float(beta[0]) + ahead, level_error=error)


def _regression(
    design: FloatArray,
    totals: FloatArray,
    exposures: FloatArray,
    link: Link,
    weights: FloatArray,
    offset: FloatArray,
    dispersion: float | None = None,
) -> tuple[FloatArray, FloatArray, float]:
    """Coefficients of a regression of rates by Fisher scoring, their errors, and the dispersion."""
    beta = np.zeros(design.shape[1])
    # Half an event keeps the level finite where nothing, or everything, has happened.
    beta[0] = to_link(link, float((totals.sum() + 0.5) / (exposures.sum() + 1)))
    for _ in range(STEPS):
        eta = np.clip(design @ beta + offset, -STEEPEST, STEEPEST)
        mean = np.exp(eta) if link == "log" else 1 / (1 + np.exp(-eta))
        variance = exposures * (mean if link == "log" else mean * (1 - mean))
        weighted = design * (weights * variance)[:, None]
        information = design.T @ weighted + 1e-12 * np.eye(len(beta))
        step = np.linalg.solve(information, design.T @ (weights * (totals - exposures * mean)))
        # No predictor moves by more than 2 at once: a whole step overshoots where events are few.
        step *= min(1.0, 2.0 / max(1e-12, float(np.abs(design @ step).max())))
        beta = beta + step
        if np.abs(step).max() < 1e-10:
            break
    if dispersion is None:
        free = len(design) - len(beta)
        pearson = float(((totals - exposures * mean) ** 2 / np.maximum(variance, 1e-12)).sum())
        dispersion = max(1.0, pearson / free) if free > 0 else 1.0
    # Weighted estimating equations have a variance of sandwich form.
    bread = np.linalg.inv(information)
    filling = design.T @ (design * (weights**2 * variance)[:, None])
    return beta, np.sqrt(np.diag(bread @ filling @ bread) * dispersion), dispersion


def fit_beta_binomial(successes: IntArray, trials: IntArray) -> Estimate:
    """Concentration alpha + beta of a beta-binomial distribution by maximum likelihood."""
    some = trials > 0
    k, n = successes[some].astype(float), trials[some].astype(float)
    if not len(k):
        return Estimate()

    def loss(point: FloatArray) -> float:
        mean, spread = special.expit(point[0]), math.exp(point[1])
        a, b = mean * spread, (1 - mean) * spread
        return -float((special.betaln(k + a, n - k + b) - special.betaln(a, b)).sum())

    share = float(np.clip((k.sum() + 0.5) / (n.sum() + 1), 1e-4, 1 - 1e-4))
    bounds = [(-12.0, 12.0), (math.log(0.05), math.log(WIDEST))]
    start = np.array([special.logit(share), math.log(4.0)])
    found = optimize.minimize(loss, start, method="L-BFGS-B", bounds=bounds)
    spread = math.exp(found.x[1])
    return Estimate(spread, standard_errors(loss, found.x)[1] * spread, len(k))


def fit_gamma_poisson(counts: IntArray) -> Estimate:
    """Shape k of a negative binomial distribution by likelihood: variance mean + mean^2 / k."""
    values = counts.astype(float)
    mean = float(values.mean()) if len(values) else 0.0
    if mean <= 0:
        return Estimate(n=len(values))

    def loss(point: FloatArray) -> float:
        k = math.exp(point[0])
        terms = special.gammaln(values + k) - special.gammaln(k)
        return -float((terms + k * math.log(k) - (values + k) * math.log(k + mean)).sum())

    found = optimize.minimize_scalar(
        lambda x: loss(np.array([x])), bounds=(math.log(0.05), math.log(WIDEST)), method="bounded"
    )
    shape = math.exp(float(found.x))
    (error,) = standard_errors(loss, np.array([float(found.x)]))
    return Estimate(shape, error * shape, len(values))


def share_never_again(gaps: FloatArray, observed: FloatArray, horizon: float) -> Estimate:
    """Share of people without another event within a horizon (Kaplan and Meier 1958).

    The error is Greenwood's; both are NaN where nobody is observed for that long.
    """
    ends = np.minimum(gaps, observed)
    happened = gaps <= observed
    if not (observed >= horizon).any():
        return Estimate(n=len(gaps))
    share, greenwood = 1.0, 0.0
    for time in np.unique(ends[happened & (ends <= horizon)]):
        at_risk, events = int((ends >= time).sum()), int((happened & (ends == time)).sum())
        share *= 1 - events / at_risk
        if at_risk > events:
            greenwood += events / (at_risk * (at_risk - events))
    return Estimate(share, share * math.sqrt(greenwood), len(gaps))


def standard_errors(
    loss: Callable[[FloatArray], float], at: FloatArray, step: float = 1e-3
) -> list[float]:
    """Errors at the minimum of a negative log likelihood; NaN where the curvature gives none."""
    size = len(at)
    hessian = np.zeros((size, size))
    base = np.eye(size) * step
    for i in range(size):
        for j in range(i, size):
            corners = (
                loss(at + base[i] + base[j]),
                loss(at + base[i] - base[j]),
                loss(at - base[i] + base[j]),
                loss(at - base[i] - base[j]),
            )
            value = (corners[0] - corners[1] - corners[2] + corners[3]) / (4 * step * step)
            hessian[i, j] = hessian[j, i] = value
    try:
        variances = np.diag(np.linalg.inv(hessian))
    except np.linalg.LinAlgError:
        return [math.nan] * size
    return [math.sqrt(one) if one > 0 else math.nan for one in variances.tolist()]
