"""How long a pair goes on writing together."""

from __future__ import annotations

import math

import numpy as np

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables

OWN = "own measurement, IEEE VIS 1994-2020 and language technology 2000-17"


def written_again(tables: FactTables, later: int) -> float:
    """Share of the ties that have a joint paper so many years after their first one, 0..1."""
    keys, year = tables.links
    pairs, place = np.unique(keys, return_inverse=True)
    first = np.full(len(pairs), tables.years)
    np.minimum.at(first, place, year)
    asked = first + later < tables.years
    again = np.zeros(len(pairs), dtype=bool)
    again[place[year == first[place] + later]] = True
    return float(again[asked].mean()) if asked.any() else math.nan


class TiesAgain(Fact):
    """Few new pairs write together again in the next year, and far more than by chance."""

    source = OWN
    published, low, high = 0.1, 0.05, 0.17
    population = "windows of nine years: VIS .06 to .09, language .11 to .14; ends widened"
    null = "rewired authors"
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Share of new ties with another joint paper in the year after the first, 0..1."""
        return written_again(tables, 1)


class TieDecay(Fact):
    """A pair that has not yet written again becomes less and less likely to."""

    source = OWN
    published, low, high = 2.2, 1.6, 3.0
    population = "windows of nine years: VIS 1.8 to 2.7, language 2.1 to 2.2; ends widened"
    null = "shuffled dates"
    least_years = 8

    def measure(self, tables: FactTables) -> float:
        """Share of new ties that write again one year later over that three years later."""
        late = written_again(tables, 3)
        return written_again(tables, 1) / late if late > 0 else math.nan
