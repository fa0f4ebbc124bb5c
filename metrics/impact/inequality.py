"""Gini coefficient and h-index."""

from __future__ import annotations

from typing import Any

import numpy as np

from virsci_society.agents.arrays import FloatArray


def gini(values: Any) -> float:
    """Gini coefficient of values >= 0: 0 if all are equal, towards 1 if one has all (Gini 1912).

    NaN of nothing, of zeros only, or with a value below zero.
    """
    ordered: FloatArray = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if not n or ordered[0] < 0 or ordered.sum() == 0:
        return float("nan")
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum()))


def h_index(citations: Any) -> int:
    """Largest h such that h papers have at least h citations each (Hirsch 2005)."""
    ordered = np.sort(np.asarray(citations, dtype=np.int64))[::-1]
    return int((ordered >= np.arange(1, len(ordered) + 1)).sum())
