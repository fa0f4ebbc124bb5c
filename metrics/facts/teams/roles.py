"""Flat teams, in which many lead, and tall ones."""

from __future__ import annotations

import math

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables

SOURCE = "Xu, Wu and Evans 2022, PNAS 119, e2200927119"


class LeadRatio(Fact):
    """Fewer than half of the authors of a paper lead the research."""

    source = SOURCE
    published, low, high = 0.42, 0.33, 0.5
    population = "contributions told to Nature and Science (.38), PNAS (.45), PLOS ONE (.43)"
    needs = ("team_roles",)
    null = "dealt roles"
    least_years = 1

    def measure(self, tables: FactTables) -> float:
        """Share of authors who put forward the idea, drafted or coordinated, mean over papers."""
        roles = tables.further["team_roles"]
        return float((roles["leads"] / roles["people"]).mean()) if len(roles) else math.nan


class TallTeams(Fact):
    """Most teams are tall: fewer than half of their authors lead."""

    source = SOURCE
    published, low, high = 0.7, 0.45, 0.85
    population = "16 million papers: 50 % in 1950, 70 % in 2015; ends widened"
    needs = ("team_roles",)
    null = "dealt roles"
    least_years = 1

    def measure(self, tables: FactTables) -> float:
        """Share of papers whose leads are less than half of the authors, 0..1."""
        roles = tables.further["team_roles"]
        return float((2 * roles["leads"] < roles["people"]).mean()) if len(roles) else math.nan
