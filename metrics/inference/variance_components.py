"""Components of variance of values in a complete crossing of factors, each level once.

The factors are drawn from many possible choices (wordings, orders, models, seeds), so each has a
variance and not effects of its own. Interactions cannot be told from chance where no cell is
repeated: they are in the rest.

Source:
    Searle, S. R., Casella, G. and McCulloch, C. E. (1992). Variance Components. Wiley.
    Williams, J. S. (1962). A confidence interval for variance components. Biometrika 49.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.intervals import NAN

TAIL = 0.025
"""Probability beyond each end of an interval."""
REST = "the rest"


@dataclass(frozen=True)
class VarianceComponent:
    """The variance that one factor, or the rest, adds to a value.

    Attributes:
        factor: its name, or ``the rest``: interactions and chance.
        levels: of the factor; cells for the rest.
        variance: estimated by the method of moments, 0 where that is negative; in the unit of the
            values, squared.
        low: lower end of Williams' interval, which covers at least 90 % and about 95 %; of the
            rest, the exact one of 95 %.
        high: upper end.
        share: of the sum of all components, 0..1; NaN where nothing varies.
    """

    factor: str
    levels: int
    variance: float
    low: float
    high: float
    share: float


def variance_components(values: FloatArray, factors: Sequence[str]) -> list[VarianceComponent]:
    """The component of each factor in its order, and that of the rest.

    Args:
        values: one for each combination of levels, an axis for each factor.
        factors: names of the axes.

    Raises:
        InputError: an axis has a single level, or a value is missing.
    """
    if values.ndim != len(factors) or min(values.shape, default=0) < 2:
        raise InputError("components of variance need at least two levels of every factor")
    if not np.isfinite(values).all():
        raise InputError("components of variance need a value in every cell")
    cells, mean, left = values.size, values.mean(), values.copy()
    squares: list[float] = []
    for axis, levels in enumerate(values.shape):
        others = tuple(number for number in range(values.ndim) if number != axis)
        effect = values.mean(axis=others, keepdims=True) - mean
        squares.append(float(np.square(effect).sum()) * cells / levels / (levels - 1))
        left = left - effect
    freedom = cells - 1 - sum(levels - 1 for levels in values.shape)
    rest = float(np.square(left - mean).sum()) / freedom if freedom else NAN
    found = [
        (name, levels, *_between(square, levels - 1, rest, freedom, cells // levels))
        for name, levels, square in zip(factors, values.shape, squares, strict=True)
    ]
    ends = (
        freedom * rest / scipy.stats.chi2.ppf([1 - TAIL, TAIL], freedom) if freedom else (NAN,) * 2
    )
    found.append((REST, cells, rest, float(ends[0]), float(ends[1])))
    total = sum(variance for _, _, variance, _, _ in found)
    return [VarianceComponent(*one, share=one[2] / total if total > 0 else NAN) for one in found]


def _between(
    square: float, freedom: int, rest: float, rest_freedom: int, repeated: int
) -> tuple[float, float, float]:
    """The variance between levels by two mean squares, with Williams' interval."""
    if not rest_freedom:
        return NAN, NAN, NAN
    ratios = scipy.stats.f.ppf([1 - TAIL, TAIL], freedom, rest_freedom)
    divisors = repeated * scipy.stats.chi2.ppf([1 - TAIL, TAIL], freedom) / freedom
    low, high = np.maximum((square - rest * ratios) / divisors, 0.0).tolist()
    return max((square - rest) / repeated, 0.0), low, high
