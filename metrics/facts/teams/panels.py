"""How often two panels decide differently on the same manuscripts."""

from __future__ import annotations

import math

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables

SOURCE = (
    "Cortes and Lawrence 2021, arXiv 2109.09774 (NeurIPS 2014); Beygelzimer et al. 2023, arXiv "
    "2306.03262 (NeurIPS 2021)"
)


def _votes(tables: FactTables) -> tuple[int, int, int]:
    """Manuscripts that both panels judged, that one accepted, and acceptances of both panels."""
    accepted = tables.further["panels"].assign(
        yes=lambda table: (table["decision"] == "accept").astype(int)
    )
    votes = accepted.groupby(["team", "submission"])["yes"].agg(["size", "sum"])
    both = votes.loc[votes["size"] == 2, "sum"]
    return len(both), int((both == 1).sum()), int(both.sum())


class PanelsDisagree(Fact):
    """Two panels decide differently on a quarter of the manuscripts."""

    source = SOURCE
    published, low, high = 0.245, 0.18, 0.31
    population = "166 manuscripts of 2014 (25.9 %) and 882 of 2021 (23 %); ends by their errors"
    needs = ("panels",)
    null = "exchanged panels"
    least_years = 1

    def measure(self, tables: FactTables) -> float:
        """Share of the manuscripts judged by two panels that one accepts and one does not, 0..1."""
        judged, one, _ = _votes(tables)
        return one / judged if judged else math.nan


class PanelsChange(Fact):
    """Half of what one panel accepts another does not."""

    source = SOURCE
    published, low, high = 0.5, 0.4, 0.62
    population = "166 manuscripts of 2014 and 882 of 2021: about half; ends judged"
    needs = ("panels",)
    null = "exchanged panels"
    least_years = 1

    def measure(self, tables: FactTables) -> float:
        """Share of the acceptances of a panel that the other panel does not accept, 0..1."""
        _, one, accepted = _votes(tables)
        return one / accepted if accepted else math.nan
