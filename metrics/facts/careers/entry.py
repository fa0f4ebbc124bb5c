"""How newcomers enter, and on which place of a paper."""

from __future__ import annotations

import math

import numpy as np

from virsci_society.agents.arrays import BoolArray
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables
from virsci_society.society.literature.authorships import FIRST, LAST

OWN = "own measurement, IEEE VIS 1994-2020 and language technology 2000-17"

WAIT = 8
"""Years after the first paper within which somebody leads one, or is left out."""


def newcomers(tables: FactTables) -> BoolArray:
    """Of each authorship, whether it is of the first year of somebody who had not written."""
    first = np.full(tables.works.people, tables.years)
    np.minimum.at(first, tables.works.authors, tables.year_of_seat)
    new = ~tables.wrote_before & (first < tables.years)
    seats: BoolArray = new[tables.works.authors]
    seats = seats & (first[tables.works.authors] == tables.year_of_seat)
    return seats


class AuthorGrowth(Fact):
    """People grow slower than authorships, by a power law."""

    source = f"{OWN}; Heaps 1978, Information Retrieval (the law, of words)"
    published, low, high = 0.78, 0.7, 0.86
    population = "windows of nine years: VIS .77 to .84, language .73; ends widened"
    null = "strangers"
    least_years = 8

    def measure(self, tables: FactTables) -> float:
        """Exponent of distinct people as a power of authorships, at ends of years (Heaps)."""
        ends = np.searchsorted(tables.year_of_seat, np.arange(1, tables.years + 1))
        ends = np.unique(ends[ends > 0])
        people = [len(np.unique(tables.works.authors[:end])) for end in ends]
        return float(np.polyfit(np.log(ends), np.log(people), 1)[0]) if len(ends) > 2 else math.nan


class LaterLeads(Fact):
    """People wait longer and longer until they lead a paper."""

    source = "Jones 2009, Review of Economic Studies 76, 283-317"
    published, low, high = 0.66, 0.2, 1.4
    population = "inventors 1975-99, age at the first patent: .66 years a decade; ends judged"
    null = "shuffled dates"
    least_years = 20

    def measure(self, tables: FactTables) -> float:
        """Slope, in years a decade, of the years from somebody's first paper to its first led one.

        Mean of each year's newcomers who lead (stand first) within eight years, which are there.
        """
        new, works = newcomers(tables), tables.works
        lead = np.full(works.people, tables.years)
        first = works.led(FIRST)
        np.minimum.at(lead, works.authors[first], tables.year_of_seat[first])
        person, entry = works.authors[new], tables.year_of_seat[new]
        wait = lead[person] - entry
        known = (wait <= WAIT) & (entry < tables.years - WAIT)
        years = np.unique(entry[known])
        means = [wait[known & (entry == year)].mean() for year in years]
        return float(10 * np.polyfit(years, means, 1)[0]) if len(years) > 2 else math.nan


class SeniorsLast(Fact):
    """Newcomers stand first rather than last."""

    source = OWN
    published, low, high = 0.6, 0.35, 0.88
    population = "windows of nine years: VIS .39 to .87, language .55 to .80; ends widened"
    null = "rewired authors"
    least_years = 3

    def measure(self, tables: FactTables) -> float:
        """Share of newcomers among last authors over that among first, of papers of several."""
        new, works = newcomers(tables), tables.works
        joint = np.repeat(works.sizes > 1, works.sizes)
        first, last = (new[works.led(place) & joint] for place in (FIRST, LAST))
        return float(last.mean() / first.mean()) if len(first) and first.any() else math.nan
