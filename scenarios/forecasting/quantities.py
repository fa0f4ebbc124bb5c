"""The quantities of a window that are forecast: sixteen numbers and three distributions.

Everything is combined on a scale without bounds: the logarithm of a positive number, the log odds
of a share. A distribution is a list of shares: of the papers (or authors) with at most so many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.validation.assembly_quantities import (
    DISTRIBUTIONS,
    AssemblyQuantities,
)
from virsci_society.metrics.validation.tolerances import TOLERANCES, scalar_error

POSITIVE = ("papers", "authors", "team_size", "papers_per_author", "coauthors")
SHARES = (
    *("alone", "gini", "newcomers", "q", "repeat_rate", "newcomer_newcomer", "newcomer_incumbent"),
    *("incumbent_incumbent", "giant_component", "clustering"),
)
QUANTITIES = (*POSITIVE, *SHARES, "assortativity")
"""The quantities that have a predictive distribution."""
STEPS = 40
"""Numbers at which a distribution is told: 0 to 39; what lies beyond is in the last share."""
POINTS = tuple(f"{name}<={number}" for name in DISTRIBUTIONS for number in range(STEPS))
NAMES = (*QUANTITIES, *POINTS)
"""Everything that is forecast, in one order."""
LEAST = 1e-3
"""Distance that a share keeps from 0 and 1."""


def levels_of(found: AssemblyQuantities) -> FloatArray:
    """All of ``NAMES`` of some papers, each on its scale (names,)."""
    values = [float(getattr(found, name)) for name in QUANTITIES]
    for name in DISTRIBUTIONS:
        numbers = np.sort(getattr(found, name))
        at_most = np.searchsorted(numbers, np.arange(STEPS), side="right")
        values += (at_most / max(1, len(numbers))).tolist()
    return np.array([to_level(*pair) for pair in zip(NAMES, values, strict=True)])


def to_level(name: str, value: float) -> float:
    """A value on the scale on which it is combined."""
    if name in POSITIVE:
        return math.log(max(value, 1e-9))
    if name not in QUANTITIES or name in SHARES:
        share = min(max(value, LEAST), 1 - LEAST)
        # NaN stays unknown: comparisons with it are false.
        return math.nan if math.isnan(value) else math.log(share / (1 - share))
    return value


def to_value(name: str, level: float) -> float:
    """The value of a level, in the unit of the quantity."""
    if name in POSITIVE:
        return math.exp(level)
    if name not in QUANTITIES or name in SHARES:
        return 1 / (1 + math.exp(-level))
    return level


def point_errors(forecast: Mapping[str, float], observed: Mapping[str, float]) -> dict[str, float]:
    """Errors of the fourteen judged quantities in tolerances.

    The Kolmogorov-Smirnov distance of two distributions is taken at the numbers of ``STEPS``.

    Args:
        forecast: a value for each of ``NAMES``.
        observed: the same.
    """
    errors = {}
    for name, one in TOLERANCES.items():
        if one.kind == "KS":
            pair = (shares_of(name, forecast), shares_of(name, observed))
            off = float(np.abs(pair[0] - pair[1]).max())
        else:
            off = scalar_error(one, forecast[name], observed[name])
        errors[name] = off / one.size
    return errors


def shares_of(name: str, values: Mapping[str, float]) -> FloatArray:
    """A distribution among the values of ``NAMES``; shares never fall."""
    listed: Sequence[float] = [values[f"{name}<={number}"] for number in range(STEPS)]
    rising: FloatArray = np.maximum.accumulate(listed)
    return rising
