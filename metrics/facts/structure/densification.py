"""Networks become denser as they grow."""

from __future__ import annotations

import math

import numpy as np

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables


class Densification(Fact):
    """Ties grow faster than people: the network of co-authors densifies."""

    source = "Leskovec, Kleinberg and Faloutsos 2007, ACM TKDD 1, article 2"
    published, low, high = 1.2, 1.08, 1.7
    population = (
        "affiliation and citation networks, 1992-2003: 1.08 to 1.15 for authors and papers, up to "
        "1.68 for citations; both ends"
    )
    null = "strangers"
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Slope of log ties on log people of the network since the boundary, at ends of years."""
        ends = np.arange(1, tables.years + 1)
        ties = tables.ties
        _, seat = np.unique(tables.works.authors, return_index=True)
        people = np.searchsorted(np.sort(tables.year_of_seat[seat]), ends)
        edges = np.searchsorted(ties.first, ends)
        there = edges > 0
        if there.sum() < 3:
            return math.nan
        return float(np.polyfit(np.log(people[there]), np.log(edges[there]), 1)[0])
