"""The growth of teams and the end of solo papers."""

from __future__ import annotations

import math

import numpy as np

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables

SOURCE = (
    "Wuchty, Jones and Uzzi 2007, Science 316, 1036-1039; Jakab, Kittl and Kiesslich 2024, "
    "Scientometrics"
)


class TeamGrowth(Fact):
    """Teams grow year by year."""

    source = SOURCE
    published, low, high = 1.8, 1.0, 3.0
    population = (
        "science 1955-2000 (1.9 to 3.5 authors, 1.4 % a year), PubMed 2000-20 (2.28 %); ends judged"
    )
    null = "shuffled dates"
    least_years = 10

    def measure(self, tables: FactTables) -> float:
        """Slope of the logarithm of the mean number of authors, in per cent a year."""
        papers = np.bincount(tables.year, minlength=tables.years)
        seats = np.bincount(tables.year_of_seat, minlength=tables.years)
        there = np.flatnonzero(papers)
        if len(there) < 3:
            return math.nan
        return float(100 * np.polyfit(there, np.log(seats[there] / papers[there]), 1)[0])


class SoloPapers(Fact):
    """Papers of one author become rare."""

    source = SOURCE
    published, low, high = -5.3, -9.0, -2.0
    population = "PubMed 2000-20, from 17.0 to 5.7 %; ends judged"
    null = "shuffled dates"
    least_years = 10

    def measure(self, tables: FactTables) -> float:
        """Change of the share of papers of one author, in per cent a year.

        From the first to the second half of the years, whose middles lie half of them apart.
        """
        early = tables.year < tables.years / 2
        solo = tables.works.sizes == 1
        if not solo[early].any() or not solo[~early].any():
            return math.nan
        return float(200 / tables.years * math.log(solo[~early].mean() / solo[early].mean()))
