"""Citations of papers within the five years after them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.metrics.facts.tables import FactTables

CITED_WITHIN = 5
"""Years after a paper in which its citations count; later papers are left out."""


def citations(tables: FactTables) -> IntArray:
    """Citations of each paper by papers of its year and of the five years after it."""
    count = len(tables.works)
    if tables.references is None:
        return np.zeros(count, dtype=np.int64)
    citing, cited = tables.references[tables.references[:, 1] < count].T
    apart = tables.year[citing] - tables.year[cited]
    return np.bincount(cited[(apart >= 0) & (apart <= CITED_WITHIN)], minlength=count)


def settled(tables: FactTables) -> int:
    """How many papers have five years after them; they are the first."""
    return int(np.searchsorted(tables.year, tables.years - CITED_WITHIN))


def relative_citations(tables: FactTables) -> FloatArray:
    """Citations over their mean in the year; NaN without five years or where a year has none."""
    counts = citations(tables).astype(np.float64)
    counts[settled(tables) :] = np.nan
    return over_year(tables, counts)


def over_year(tables: FactTables, values: FloatArray) -> FloatArray:
    """Values of papers over their mean in the year; NaN where that is 0 or the value is NaN."""
    known = ~np.isnan(values)
    year, size = tables.year[known], tables.years
    mean = np.bincount(year, values[known], size) / np.maximum(np.bincount(year, minlength=size), 1)
    found = np.full(len(values), np.nan)
    found[known] = values[known] / np.where(mean > 0, mean, np.nan)[year]
    return found


def years_of(tables: FactTables) -> Iterator[slice]:
    """The papers of each year, as long as they have five years after them."""
    ends = np.searchsorted(tables.year, np.arange(tables.years - CITED_WITHIN + 1))
    yield from (slice(int(a), int(b)) for a, b in pairwise(ends) if b > a)


def mean_ratio(values: FloatArray, chosen: BoolArray) -> float:
    """The mean of the values that are chosen over that of the others; NaN values are left out."""
    known = ~np.isnan(values)
    one, other = values[known & chosen], values[known & ~chosen]
    return float(one.mean() / other.mean()) if len(one) and other.any() else math.nan
