"""Counts that vary more than chance alone makes them, and shares of those who never come again.

Written by hand: statsmodels gives the same numbers (to 1e-6), but its import alone takes 4 s.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import optimize, special

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.scenarios.calibration.estimation.trends import Estimate

WIDEST = 1e4
"""Largest concentration; above it a beta-binomial is a binomial."""


def fit_beta_binomial(successes: IntArray, trials: IntArray) -> tuple[Estimate, Estimate]:
    """Mean and concentration of a beta-binomial distribution by maximum likelihood.

    Args:
        successes: of each group, such as the newcomers of a team.
        trials: of each group, such as its seats.

    Returns:
        The mean, and the concentration alpha + beta (large: groups are alike), whose error is
        that of its logarithm times the value.
    """
    some = trials > 0
    k, n = successes[some].astype(float), trials[some].astype(float)
    if not len(k):
        return Estimate(float("nan"), float("nan"), 0), Estimate(float("nan"), float("nan"), 0)

    def loss(point: FloatArray) -> float:
        mean, spread = special.expit(point[0]), math.exp(point[1])
        a, b = mean * spread, (1 - mean) * spread
        return -float((special.betaln(k + a, n - k + b) - special.betaln(a, b)).sum())

    share = float(np.clip((k.sum() + 0.5) / (n.sum() + 1), 1e-4, 1 - 1e-4))
    bounds = [(-12.0, 12.0), (math.log(0.05), math.log(WIDEST))]
    start = np.array([special.logit(share), math.log(4.0)])
    found = optimize.minimize(loss, start, method="L-BFGS-B", bounds=bounds)
    errors = standard_errors(loss, found.x)
    mean, spread = float(special.expit(found.x[0])), math.exp(found.x[1])
    return (
        Estimate(mean, errors[0] * mean * (1 - mean), len(k)),
        Estimate(spread, errors[1] * spread, len(k)),
    )


def fit_gamma_poisson(counts: IntArray) -> Estimate:
    """Shape of a negative binomial distribution of counts, their mean given, by likelihood.

    Args:
        counts: whole numbers >= 0.

    Returns:
        The shape k (variance = mean + mean^2 / k); large where the counts vary no more than
        Poisson's.
    """
    values = counts.astype(float)
    mean = float(values.mean()) if len(values) else 0.0
    if mean <= 0:
        return Estimate(float("nan"), float("nan"), len(values))

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
    """Share of people without another event within a horizon, by Kaplan and Meier.

    Args:
        gaps: time to the next event of each person; infinite where there is none in the data.
        observed: time for which each person is observed; those without an event leave then.
        horizon: the time at which the share is wanted.

    Returns:
        The share with Greenwood's error; NaN where nobody is observed as long as that.

    Source:
        Kaplan and Meier (1958), Journal of the American Statistical Association 53:457.
    """
    ends = np.minimum(gaps, observed)
    happened = gaps <= observed
    if not (observed >= horizon).any():
        return Estimate(float("nan"), float("nan"), len(gaps))
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
    """Standard errors at the minimum of a negative log likelihood, by finite differences.

    Args:
        loss: a function of a point.
        at: the minimum.
        step: of the differences.

    Returns:
        One error per coordinate; NaN where the curvature tells none, as on a bound.
    """
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
        return [float("nan")] * size
    return [math.sqrt(one) if one > 0 else float("nan") for one in variances.tolist()]
