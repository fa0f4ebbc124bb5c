"""The network of co-authors of windows of five years."""

from __future__ import annotations

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.structure.networks import network
from virsci_society.metrics.facts.tables import WINDOW, FactTables, mean_over_windows
from virsci_society.metrics.networks.structure import network_statistics

SOURCE = "Newman 2001, PNAS 98, 404-409; Newman 2004, PNAS 101, 5200-5205"


def _mean_statistic(tables: FactTables, name: str) -> float:
    return mean_over_windows(tables, lambda one: network_statistics(network(one, WINDOW))[name])


class GiantComponent(Fact):
    """Most authors of five years are connected in a giant component."""

    source = SOURCE
    published, low, high = 0.85, 0.57, 0.93
    population = "physics, biomedicine and computer science, 1995-99; lowest is NCSTRL"
    null = "strangers"
    least_years = WINDOW

    def measure(self, tables: FactTables) -> float:
        """Share of the authors of five years in the largest component, mean over windows."""
        return _mean_statistic(tables, "giant_share")


class Clustering(Fact):
    """Two co-authors of somebody often write together, which is clustering."""

    source = SOURCE
    published, low, high = 0.4, 0.3, 0.76
    population = "physics, mathematics, computer science and high-energy physics, 1995-99"
    null = "rewired authors"
    least_years = WINDOW

    def measure(self, tables: FactTables) -> float:
        """Triangles (three times) over connected triples of five years, 0..1, mean over windows."""
        return _mean_statistic(tables, "transitivity")


class Assortativity(Fact):
    """People with many co-authors write with others who have many."""

    source = "Newman 2002, Physical Review Letters 89, 208701"
    published, low, high = 0.2, 0.12, 0.363
    population = "co-authors in mathematics (.120), biology (.127) and physics (.363), 1995-99"
    null = "rewired authors"
    least_years = WINDOW

    def measure(self, tables: FactTables) -> float:
        """Correlation of degrees at both ends of a tie of five years, -1..1, mean over windows."""
        return _mean_statistic(tables, "assortativity")
