"""New ties between people with mutual partners."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import sparse

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.structure.networks import network, people_before
from virsci_society.metrics.facts.tables import FactTables

SOURCE = "Newman 2001, Physical Review E 64, 025102"
KINDS = 3
"""No mutual partner, one, and two or more."""


@lru_cache(maxsize=1)
def chances(tables: FactTables) -> FloatArray:
    """By mutual partners (0, 1, 2 or more), the chance that a pair writes its first paper.

    Pairs are those of people who had written before a year and write in it, and who had not
    written together; partners are those of before the year.
    """
    pairs, tied = np.zeros(KINDS), np.zeros(KINDS)
    ties = tables.ties
    for year in range(1, tables.years):
        people, matrix = people_before(tables, year), network(tables, year)
        active = np.isin(people, np.unique(tables.works.authors[tables.year_of_seat == year]))
        rows = np.flatnonzero(active)
        if len(rows) < 2:
            continue
        among = matrix[rows]
        mutual = sparse.csr_array(among @ among.T)
        before = sparse.csr_array(among[:, rows])
        new = np.zeros(tables.works.people, dtype=np.int64) - 1
        new[people[rows]] = np.arange(len(rows))
        here = ties.first == year
        ends = np.stack([new[ties.one[here]], new[ties.other[here]]])
        ends = ends[:, (ends >= 0).all(axis=0)]
        open_pairs = sparse.triu(mutual - mutual.multiply(before), 1).tocoo().data
        counts = np.bincount(np.minimum(open_pairs, 2).astype(int), minlength=KINDS)
        counts[0] = len(rows) * (len(rows) - 1) // 2 - before.nnz // 2 - counts[1:].sum()
        pairs += counts
        found = np.asarray(mutual[ends[0], ends[1]]).ravel() if ends.size else np.zeros(0)
        tied += np.bincount(np.minimum(found, 2).astype(int), minlength=KINDS)
    with np.errstate(invalid="ignore"):
        return np.asarray(tied / np.where(pairs, pairs, np.nan))


def _ratio(over: float, under: float) -> float:
    return float(over / under) if under > 0 and over > 0 else math.nan


class MutualPartner(Fact):
    """A mutual partner brings two people together."""

    source = SOURCE
    published, low, high = 45.0, 5.0, 500.0
    population = (
        "physics and biomedicine, 1995-99: pairs with five mutual partners are 200 times as likely "
        "as pairs without any, and twice as likely as pairs with two; ends judged, since the "
        "chance of pairs without one falls with the size of a field"
    )
    null = "rewired authors"
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Chance of a first joint paper with one mutual partner over that with none."""
        none, one, _ = chances(tables)
        return _ratio(one, none)


class MoreMutualPartners(Fact):
    """Several mutual partners bring two people together more than one does."""

    source = SOURCE
    published, low, high = 2.0, 1.2, 4.0
    population = "physics and biomedicine, 1995-99: five partners twice as much as two; ends judged"
    null = "rewired authors"
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Chance of a first joint paper with two or more mutual partners over that with one."""
        _, one, more = chances(tables)
        return _ratio(more, one)
