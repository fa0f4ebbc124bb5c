"""From hindcasts to predictive distributions: which forecasters deserve which weight, and errors.

Four forecasters are combined: the simulated society, the same less its bias in earlier windows, the
last window, and the mean of the last two. Each has in every quantity the weight of the inverse of
its mean square error in earlier windows (Bates and Granger 1969, Operational Research Quarterly
20:451), which is drawn towards what it is over all quantities, because few windows tell little of
one. The distribution is Student's, as wide as the errors of the same rule in earlier windows were,
of which the last count most: so it holds what differs between windows, and not only what differs
between simulations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from virsci_society.agents.arrays import FloatArray

BIAS_WINDOWS = 4
"""Earlier windows in which a bias is looked for, at most."""
FIRST_ERROR = 2
"""Windows before the first one whose forecast counts."""
WEIGHT_PRIOR, SPREAD_PRIOR = 10.0, 3.0
"""Windows that errors over all quantities count for, beside those in one: for a weight, a width."""
FADING = 0.5
"""How much an error counts for the width beside that in the next window: a field grows, so that
errors of its early windows are larger than those of today."""
FEWEST = 4
"""Windows without which no forecast is made."""
FLOOR = 1e-4
"""Variance below which no difference of two windows is believed: one per cent."""


@dataclass(frozen=True, eq=False)
class Predictive:
    """A Student distribution of each quantity on its scale.

    Attributes:
        centre: (names,).
        spread: its scale (names,).
        freedom: degrees of freedom.
    """

    centre: FloatArray
    spread: FloatArray
    freedom: float

    def quantiles(self, shares: FloatArray) -> FloatArray:
        """Quantiles (names, shares)."""
        steps = scipy.stats.t.ppf(shares, self.freedom)
        levels: FloatArray = self.centre[:, None] + self.spread[:, None] * steps
        return levels


def forecasters(observed: FloatArray, simulated: FloatArray) -> FloatArray:
    """What the four forecasters say of the window after the observed ones (forecasters, names).

    Args:
        observed: levels of earlier windows (windows, names).
        simulated: of these and of the window that is forecast (windows + 1, names).
    """
    errors = (observed - simulated[:-1])[-BIAS_WINDOWS:]
    last, society = observed[-1], simulated[-1]
    return np.stack([society, society + shrunk_mean(errors), last, observed[-2:].mean(axis=0)])


def shrunk_mean(errors: FloatArray) -> FloatArray:
    """The mean over windows, drawn towards zero by as much as its error is large (names,).

    The factor of James and Stein, max(0, 1 - (error / mean)^2), with which trends are shrunk too.
    """
    mean: FloatArray = errors.mean(axis=0)
    if len(errors) < 2:
        return np.zeros_like(mean)
    variance = errors.var(axis=0, ddof=1) / len(errors)
    shrunk: FloatArray = mean * np.maximum(0.0, 1 - variance / np.maximum(mean**2, 1e-300))
    return shrunk


def combined(observed: FloatArray, simulated: FloatArray, judged: int) -> FloatArray:
    """The combined forecast of the window after the observed ones (names,).

    Args:
        observed: levels of earlier windows (windows, names).
        simulated: of these and of the window that is forecast (windows + 1, names).
        judged: the first so many names are those over which forecasters are compared.
    """
    made = forecasters(observed, simulated)
    errors = _past_errors(observed, simulated)
    if not len(errors):
        mean: FloatArray = made.mean(axis=0)
        return mean
    squares = _mean_squares(errors, between(observed), judged, WEIGHT_PRIOR)
    # A forecaster without any error has all the weight, and not an infinite one.
    weights = 1 / np.maximum(squares, 1e-12)
    found: FloatArray = (weights / weights.sum(axis=0) * made).sum(axis=0)
    return found


def _past_errors(observed: FloatArray, simulated: FloatArray) -> FloatArray:
    """Errors of the forecasters in earlier windows (windows, forecasters, names)."""
    made = [
        forecasters(observed[:place], simulated[: place + 1]) - observed[place]
        for place in range(FIRST_ERROR, len(observed))
    ]
    return np.array(made)


def between(observed: FloatArray, fading: float = 1.0) -> FloatArray:
    """Mean square of what changes from one window to the next (names,).

    Args:
        observed: levels of windows (windows, names).
        fading: weight of a change beside that of the next one.
    """
    squares = np.diff(observed, axis=0) ** 2
    changes = np.average(squares, axis=0, weights=_weights(squares, fading)) + FLOOR
    return np.asarray(changes, dtype=np.float64)


def _weights(rows: FloatArray, fading: float) -> FloatArray:
    """The weight of each row: 1 of the last one, ``fading`` of the one before, and so on."""
    found: FloatArray = np.power(fading, np.arange(len(rows))[::-1], dtype=np.float64)
    return found


def _mean_squares(
    errors: FloatArray, unit: FloatArray, judged: int, strength: float, fading: float = 1.0
) -> FloatArray:
    """Mean square errors (..., names), drawn towards those over all judged quantities."""
    weights = _weights(errors, fading)
    relative = np.nanmean((errors**2 / unit)[..., :judged], axis=-1)
    prior = strength * np.average(relative, axis=0, weights=weights)[..., None] * unit
    total = np.tensordot(weights, errors**2, axes=1)
    found: FloatArray = (total + prior) / (weights.sum() + strength)
    return found


def predict(centre: FloatArray, errors: FloatArray, unit: FloatArray, judged: int) -> Predictive:
    """A distribution about a forecast, as wide as its errors in earlier windows.

    Args:
        centre: the forecast (names,).
        errors: of the same rule in earlier windows (windows, names).
        unit: ``between`` of these windows (names,).
        judged: the first so many names are those over which errors are pooled.
    """
    squares = _mean_squares(errors, unit, judged, SPREAD_PRIOR, FADING)
    freedom = float(_weights(errors, FADING).sum()) + SPREAD_PRIOR
    return Predictive(centre, np.sqrt(squares), freedom)


def predictions(
    observed: FloatArray, simulated: FloatArray, rival: FloatArray, judged: int
) -> dict[str, Predictive]:
    """The forecast and its rivals for the window after the observed ones, each with its errors.

    Args:
        observed: levels of earlier windows (windows, names), ``FEWEST`` or more.
        simulated: of these and of the window that is forecast (windows + 1, names).
        rival: the same, by the p and q of Guimera et al. (2005).
        judged: the first so many names are quantities; shares of distributions follow.
    """
    places = range(FIRST_ERROR, len(observed))
    unit = between(observed, FADING)
    hindcasts = [combined(observed[:one], simulated[: one + 1], judged) for one in places]
    found = {
        "forecast": (combined(observed, simulated, judged), np.array(hindcasts)),
        "society": (simulated[-1], simulated[FIRST_ERROR:-1]),
        "p, q": (rival[-1], rival[FIRST_ERROR:-1]),
        "persistence": (observed[-1], observed[FIRST_ERROR - 1 : -1]),
    }
    return {
        name: predict(centre, past - observed[FIRST_ERROR:], unit, judged)
        for name, (centre, past) in found.items()
    }
