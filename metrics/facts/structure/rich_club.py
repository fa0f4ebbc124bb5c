"""Whether those with the most co-authors write with each other."""

from __future__ import annotations

import math

import numpy as np

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.structure.networks import network
from virsci_society.metrics.facts.tables import WINDOW, FactTables, mean_over_windows


class RichClub(Fact):
    """Those with the most co-authors write with each other more than their numbers say."""

    source = "Colizza, Flammini, Serrano and Vespignani 2006, Nature Physics 2, 110-115"
    published, low, high = 1.5, 1.1, 6.0
    population = (
        "condensed matter, 1995-2000: above 1 and rising with the number of co-authors; ends judged"
    )
    null = "rewired authors"
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Ties among the 5 % with most co-authors, over what their numbers of co-authors give.

        Mean over windows of five years.
        """
        return mean_over_windows(tables, _density)


def _density(tables: FactTables) -> float:
    matrix = network(tables, WINDOW)
    degree = np.diff(matrix.indptr).astype(np.float64)
    if not degree.any():
        return math.nan
    rich = np.flatnonzero(degree > np.quantile(degree, 0.95))
    among = matrix[rich][:, rich].nnz / 2
    expected = (degree[rich].sum() ** 2 - (degree[rich] ** 2).sum()) / 2 / degree.sum()
    return float(among / expected) if expected else math.nan
