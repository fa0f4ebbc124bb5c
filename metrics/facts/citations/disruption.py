"""Papers that disrupt, which later papers cite without what they cite."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse, stats

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.facts.citation_counts import CITED_WITHIN, mean_ratio, years_of
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables
from virsci_society.metrics.impact import cd_index, count_later_papers
from virsci_society.society.literature.papers import DAYS_PER_YEAR


def disruption(tables: FactTables) -> FloatArray:
    """The CD index over five years of each paper; NaN without references, or five years.

    Papers of one year know nothing of each other, since nothing is known of their order.
    """
    found = np.full(len(tables.works), np.nan)
    if tables.references is None:
        return found
    width = max(len(tables.works), int(tables.references.max()) + 1)
    ones = np.ones(len(tables.references))
    ends = tables.references[:, 0], tables.references[:, 1]
    graph = sparse.coo_array((ones, ends), (len(tables.works), width)).tocsr()
    (counts,) = count_later_papers(graph, tables.works.dates, (CITED_WITHIN * DAYS_PER_YEAR,))
    for papers in years_of(tables):
        found[papers] = cd_index(counts[papers])
    found[np.diff(graph.indptr) == 0] = np.nan
    return found


class SmallTeamsDisrupt(Fact):
    """Small teams disrupt, large teams develop."""

    source = "Wu, Wang and Evans 2019, Nature 566, 378-382"
    published, low, high = -12.4, -20.0, -2.0
    population = (
        "Web of Science 1954-2014: 70 points of percentile from 1 to 50 authors, which are 5.64 "
        "doublings; ends judged"
    )
    needs = ("references",)
    null = "exchanged places"
    least_years = 8

    def measure(self, tables: FactTables) -> float:
        """Percentile points of the CD index in its year for each doubling of the authors.

        CD is that of five years; papers without references have none.
        """
        index, rank = disruption(tables), np.full(len(tables.works), np.nan)
        for papers in years_of(tables):
            known = np.flatnonzero(~np.isnan(index[papers])) + papers.start
            if len(known) > 1:
                rank[known] = 100 * (stats.rankdata(index[known]) - 0.5) / len(known)
        known = np.flatnonzero(~np.isnan(rank))
        size = np.log2(tables.works.sizes[known])
        varies = len(np.unique(size)) > 1
        return float(np.polyfit(size, rank[known], 1)[0]) if varies else math.nan


class RemoteTeams(Fact):
    """Teams whose authors work apart disrupt less often."""

    source = "Lin, Frey and Wu 2023, Nature 623, 987-991"
    published, low, high = 0.79, 0.6, 0.97
    population = (
        "papers 1960-2020, teams at no and at more than 600 km: 28 and 22 %; with controls 20.4 "
        "and 19.5 %, the upper end"
    )
    needs = ("references", "team_places")
    null = "exchanged places"
    least_years = 8

    def measure(self, tables: FactTables) -> float:
        """Share of papers with CD above 0 of authors at several institutions over those at one."""
        remote = tables.of_papers("team_places", "remote")
        index = disruption(tables)
        disrupts = np.where(np.isnan(index) | np.isnan(remote), np.nan, index > 0)
        return mean_ratio(disrupts, remote > 0)
