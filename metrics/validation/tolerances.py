"""Errors of simulated against observed measures in units of tolerance, and one score of them.

The fourteen were fixed before any model was fitted, so that no model could choose its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.metrics.validation.assembly_measures import AssemblyMeasures


def known_of(values: Sequence[float] | FloatArray) -> FloatArray:
    """The values that are known."""
    numbers = np.asarray(values, dtype=np.float64)
    return numbers[np.isfinite(numbers)]


def mean_of_known(values: Sequence[float] | FloatArray) -> float:
    """Mean of the known values; NaN of none."""
    known = known_of(values)
    return float(known.mean()) if len(known) else math.nan


def deviation_of_known(values: Sequence[float] | FloatArray) -> float:
    """Standard deviation of the known values; NaN of fewer than two."""
    known = known_of(values)
    return float(known.std(ddof=1)) if len(known) > 1 else math.nan


def z_score(values: Sequence[float] | FloatArray, observed: float, error: float) -> float:
    """Distance of the mean over runs from an observed value, in standard errors of both."""
    known, spread = known_of(values), deviation_of_known(values)
    variance = error**2 + (0.0 if math.isnan(spread) else spread**2 / len(known))
    return (mean_of_known(known) - observed) / math.sqrt(variance) if variance > 0 else math.nan


class Tolerance(NamedTuple):
    """How far a measure may be off, and how that is measured."""

    measure: str
    kind: str
    size: float


TOLERANCES: Mapping[str, Tolerance] = {
    name: Tolerance(name, kind, size)
    for name, kind, size in (
        ("single_authored", "difference", 0.02),
        ("gini_papers", "difference", 0.02),
        ("newcomer_rate", "difference", 0.04),
        ("q", "difference", 0.05),
        ("repeat_rate", "difference", 0.04),
        ("giant_component_authors", "difference", 0.08),
        ("clustering", "difference", 0.03),
        ("assortativity", "difference", 0.10),
        ("authors", "relative", 0.08),
        ("papers_per_author", "relative", 0.05),
        ("coauthors_per_author", "relative", 0.08),
        ("authors_by_paper", "KS", 0.05),
        ("papers_by_author", "KS", 0.03),
        ("coauthors_by_author", "KS", 0.06),
    )
}
"""The fourteen measures by which a simulated community is judged."""


def errors_in_tolerances(
    simulated: AssemblyMeasures, observed: AssemblyMeasures
) -> dict[str, float]:
    """The error of each of the fourteen measures, divided by its tolerance."""
    return {name: error_of(one, simulated, observed) / one.size for name, one in TOLERANCES.items()}


def error_of(
    tolerance: Tolerance, simulated: AssemblyMeasures, observed: AssemblyMeasures
) -> float:
    """The error of one measure, in the unit of its tolerance; see ``errors_in_tolerances``."""
    one, other = getattr(simulated, tolerance.measure), getattr(observed, tolerance.measure)
    if tolerance.kind != "KS":
        return scalar_error(tolerance, float(one), float(other))
    if len(one) and len(other):
        return kolmogorov_smirnov(one, other)
    return 1.0 if len(one) or len(other) else math.nan


def scalar_error(tolerance: Tolerance, simulated: float, observed: float) -> float:
    """The error of a value, or of a mean over runs, in the unit of its tolerance."""
    if math.isnan(simulated) or math.isnan(observed):
        # Of one known side the error is a whole: a society without a paper must not pass.
        return math.nan if math.isnan(simulated) and math.isnan(observed) else 1.0
    difference = simulated - observed
    if tolerance.kind != "relative":
        return difference
    # A relative error is undefined for an observed zero: any other value is one full error off.
    return difference / observed if observed else float(np.sign(difference))


MOST_COUNTED = 5.0
"""Errors are clipped at this many tolerances, so that no measure alone makes the score."""


def score(errors: Mapping[str, float], most: float = MOST_COUNTED) -> float:
    """Root mean square of the errors that are known, in tolerances; NaN of none."""
    known = np.minimum(np.abs(known_of([*errors.values()])), most)
    return float(np.sqrt(np.mean(known**2))) if len(known) else math.nan


def within_tolerance(errors: Mapping[str, float]) -> int:
    """How many of the errors are at most one tolerance."""
    return int((np.abs(known_of([*errors.values()])) <= 1 + 1e-9).sum())


def kolmogorov_smirnov(one: IntArray, other: IntArray) -> float:
    """Largest distance of the distribution functions of two samples; NaN where one is empty."""
    if not len(one) or not len(other):
        return float("nan")
    length = int(max(one.max(), other.max())) + 1
    shares = [
        np.cumsum(np.bincount(values, minlength=length)) / len(values) for values in (one, other)
    ]
    return float(np.abs(shares[0] - shares[1]).max())
