"""Distances in a network that grows."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.structure.networks import network
from virsci_society.metrics.facts.tables import FactTables

SOURCES = 100
"""People from whom distances are measured, at most; evenly spread over the order of degrees."""


class ShrinkingDiameter(Fact):
    """Distances shrink while the network grows."""

    source = "Leskovec, Kleinberg and Faloutsos 2007, ACM TKDD 1, article 2"
    published, low, high = -0.5, -2.0, -0.03
    population = (
        "citation and affiliation networks, 1992-2003: the effective diameter falls from about 10 "
        "to 5 in ten years; ends judged"
    )
    null = "strangers"
    least_years = 10

    def measure(self, tables: FactTables) -> float:
        """Slope a year of the effective diameter in the second half of the years.

        The effective diameter is the distance within which nine of ten pairs of the largest
        component lie.
        """
        ends = np.unique(np.linspace(tables.years / 2, tables.years, 4).round().astype(int))
        lengths = [effective_diameter(network(tables, int(end))) for end in ends]
        return float(np.polyfit(ends, lengths, 1)[0]) if len(ends) > 2 else math.nan


def effective_diameter(matrix: sparse.csr_array) -> float:
    """The 90th percentile of the distances within the largest component."""
    if not matrix.nnz:
        return 0.0
    _, label = csgraph.connected_components(matrix, directed=False)
    inside = np.flatnonzero(label == np.bincount(label).argmax())
    giant = matrix[inside][:, inside]
    order = np.argsort(np.diff(giant.indptr), kind="stable")
    chosen = np.unique(np.linspace(0, len(order) - 1, SOURCES).round().astype(int))
    distances = csgraph.dijkstra(giant, unweighted=True, indices=order[chosen])
    return float(np.quantile(distances[distances > 0], 0.9))
