"""Krippendorff's alpha, the agreement of several raters of whom each rated some of the items."""

from __future__ import annotations

from typing import Literal

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError

Level = Literal["ordinal", "interval"]


def krippendorff_alpha(ratings: FloatArray, level: Level = "interval") -> float:
    """Krippendorff's alpha (Krippendorff 2011, *Computing Krippendorff's Alpha-Reliability*).

    One minus observed over expected disagreement, the mean difference within abstracts over that
    between any two ratings. ``interval`` takes squared differences; ``ordinal`` the squared number
    of ratings between two values, each of both by half.

    Args:
        ratings: raters x abstracts, NaN where a rater has not rated.
        level: how differences count.

    Raises:
        InputError: not a table of raters and abstracts.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise InputError(f"ratings of shape {table.shape}: expected raters x abstracts")
    values, coincidences = _coincidences(table)
    totals = coincidences.sum(axis=1)
    n = totals.sum()
    if len(values) < 2 or n < 2:
        return float("nan")
    gaps = _gaps(values, totals, level)
    observed = float((coincidences * gaps).sum()) / n
    expected = float((np.outer(totals, totals) * gaps).sum()) / (n * (n - 1))
    return float(1.0 - observed / expected) if expected > 0 else float("nan")


def _coincidences(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The values that were given, and how often each two of them met in one abstract."""
    known = ~np.isnan(table)
    paired = known.sum(axis=0) > 1
    table, known = table[:, paired], known[:, paired]
    values = np.unique(table[known])
    counts = np.stack(
        [(table == value).sum(axis=0) for value in values] or [np.zeros(table.shape[1])], axis=1
    ).astype(np.float64)
    weights = 1.0 / np.maximum(known.sum(axis=0) - 1, 1)
    met = (counts * weights[:, None]).T @ counts
    np.fill_diagonal(met, met.diagonal() - (counts * weights[:, None]).sum(axis=0))
    return values, met


def _gaps(values: FloatArray, totals: FloatArray, level: Level) -> FloatArray:
    """Squared differences between any two values."""
    if level == "interval":
        return np.asarray((values[:, None] - values[None, :]) ** 2)
    # Midpoints of the ranks: ratings below a value, and half of those that have it.
    place = np.cumsum(totals) - totals / 2
    return np.asarray((place[:, None] - place[None, :]) ** 2)
