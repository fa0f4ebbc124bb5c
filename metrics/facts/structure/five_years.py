"""The network of co-authors of windows of five years."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.structure.networks import clustering, giant_share
from virsci_society.metrics.facts.tables import FactTables

WINDOW = 5
SOURCE = "Newman 2001, PNAS 98, 404-409; Newman 2004, PNAS 101, 5200-5205"


def mean_over_windows(tables: FactTables, measure: Callable[[FactTables], float]) -> float:
    """The mean of a measure over the windows of five years that follow each other."""
    starts = range(0, tables.years - WINDOW + 1, WINDOW)
    found = [measure(tables.between(start, start + WINDOW)) for start in starts]
    return float(np.mean(found)) if found else math.nan


class GiantComponent(Fact):
    """Most authors of five years are connected: the giant component."""

    source = SOURCE
    published, low, high = 0.85, 0.57, 0.93
    population = "physics, biomedicine and computer science, 1995-99; lowest is NCSTRL"
    null = "strangers"
    least_years = WINDOW

    def measure(self, tables: FactTables) -> float:
        """Share of the authors of five years in the largest component, mean over windows."""
        return mean_over_windows(tables, giant_share)


class Clustering(Fact):
    """Two co-authors of somebody often write together: clustering."""

    source = SOURCE
    published, low, high = 0.4, 0.3, 0.76
    population = "physics, mathematics, computer science and high-energy physics, 1995-99"
    null = "rewired authors"
    least_years = WINDOW

    def measure(self, tables: FactTables) -> float:
        """Triangles (three times) over connected triples of five years, 0..1, mean over windows."""
        return mean_over_windows(tables, clustering)
