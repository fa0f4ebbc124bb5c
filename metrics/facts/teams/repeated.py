"""Teams that write again as they are."""

from __future__ import annotations

import math

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables


class TeamsAgain(Fact):
    """Few papers are by a team that has written before, and far more than by chance."""

    source = "own measurement, IEEE VIS 1994-2020 and language technology 2000-17"
    published, low, high = 0.06, 0.018, 0.14
    population = "windows of nine years: VIS .02 to .05, language .13; ends widened"
    null = "rewired authors"
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Share of papers of several authors whose very team has a paper of an earlier year."""
        known: dict[frozenset[int], int] = {}
        repeated = joint = 0
        for year, team in zip(tables.year.tolist(), tables.works.teams, strict=True):
            if len(team) > 1:
                joint += 1
                repeated += known.setdefault(frozenset(team), year) < year
        return repeated / joint if joint else math.nan
