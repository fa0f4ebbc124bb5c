"""The strongest partners of people with many papers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import pandas as pd

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables
from virsci_society.metrics.networks.tie_lifetimes import super_ties

SOURCE = "Petersen 2015, PNAS 112, E4671-E4680"
LEAST = 6
"""Papers of those whose partners are looked at."""


def _ends(tables: FactTables) -> pd.DataFrame:
    """Each tie from both of its ends: person, partner, joint papers."""
    ties = tables.ties
    return pd.DataFrame(
        {
            "scientist": np.concatenate([ties.one, ties.other]),
            "partner": np.concatenate([ties.other, ties.one]),
            "joint_papers": np.concatenate([ties.papers, ties.papers]),
        }
    )


def super_partners(tables: FactTables) -> Mapping[int, set[int]]:
    """The partners of each person with 6 papers or more to whom it has a super tie."""
    ends = _ends(tables)
    strong = ends[super_ties(ends) & (tables.written[ends["scientist"]] >= LEAST)]
    partners: dict[int, set[int]] = defaultdict(set)
    for person, partner in zip(strong["scientist"], strong["partner"], strict=True):
        partners[int(person)].add(int(partner))
    return partners


class StrongestPartner(Fact):
    """The strongest partner stands on half of somebody's papers."""

    source = SOURCE
    published, low, high = 0.5, 0.4, 0.65
    population = (
        "473 careers in biology and physics: often more than half; ends judged, VIS and language "
        "technology .47 to .58"
    )
    null = "rewired authors"
    least_years = 8

    def measure(self, tables: FactTables) -> float:
        """Share of papers with the strongest partner, mean over people with 6 papers or more."""
        ends = _ends(tables)
        most = np.zeros(tables.works.people)
        np.maximum.at(most, ends["scientist"].to_numpy(), ends["joint_papers"].to_numpy())
        chosen = tables.written >= LEAST
        return float((most[chosen] / tables.written[chosen]).mean()) if chosen.any() else math.nan


class SuperTies(Fact):
    """Most papers of prolific people have a super tie on them."""

    source = SOURCE
    published, low, high = 0.73, 0.5, 0.85
    population = "473 careers: about half; VIS and language .65 to .81; upper end judged"
    null = "rewired authors"
    least_years = 8

    def measure(self, tables: FactTables) -> float:
        """Share of papers with a super tie, mean over people with 6 papers or more.

        A super tie has more than (mean strength - 1) ln(ties) joint papers, and at least two.
        """
        partners, works = super_partners(tables), tables.works
        shares = [
            np.mean(
                [
                    not partners[person].isdisjoint(works.teams[paper])
                    for paper in works.papers_by_person[person]
                ]
            )
            for person in np.flatnonzero(tables.written >= LEAST).tolist()
        ]
        return float(np.mean(shares)) if shares else math.nan
