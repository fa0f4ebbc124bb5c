"""Mean, standard deviation and z of values over runs, of which some may be unknown (NaN)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from virsci_society.agents.arrays import FloatArray


def known_of(values: Sequence[float] | FloatArray) -> FloatArray:
    """The values that are known."""
    numbers = np.asarray(values, dtype=np.float64)
    known: FloatArray = numbers[np.isfinite(numbers)]
    return known


def mean_of_known(values: Sequence[float] | FloatArray) -> float:
    """Mean of the known values; NaN of none."""
    known = known_of(values)
    return float(known.mean()) if len(known) else math.nan


def deviation_of_known(values: Sequence[float] | FloatArray) -> float:
    """Standard deviation of the known values; NaN of fewer than two."""
    known = known_of(values)
    return float(known.std(ddof=1)) if len(known) > 1 else math.nan


def z_score(values: Sequence[float] | FloatArray, observed: float, error: float) -> float:
    """Distance of the mean over runs from an observed value, in standard errors of both.

    Args:
        values: one per run.
        observed: the observed value.
        error: its standard error; NaN where it is not known, which makes the result NaN.

    Returns:
        NaN where nothing is known of the errors, or no run has a value.
    """
    known, spread = known_of(values), deviation_of_known(values)
    variance = error**2 + (0.0 if math.isnan(spread) else spread**2 / len(known))
    return (mean_of_known(known) - observed) / math.sqrt(variance) if variance > 0 else math.nan
