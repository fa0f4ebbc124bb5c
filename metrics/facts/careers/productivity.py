"""How papers are spread over people."""

from __future__ import annotations

import math

import numpy as np

from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables, mean_over_windows
from virsci_society.metrics.networks.degree_tails import fit_power_law

OWN = "own measurement, IEEE VIS 1994-2020 and language technology 2000-17"


class Lotka(Fact):
    """The number of people with n papers falls as a power of n."""

    source = (
        "Lotka 1926, Journal of the Washington Academy of Sciences 16, 317-323; Pao 1986, JASIS"
    )
    published, low, high = 2.0, 1.8, 3.0
    population = "chemistry 1907-16 (1.89) and physics to 1900 (2.02); upper end of later fields"
    null = "random authors"
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Exponent of the power law of papers per person from one paper on, maximum likelihood."""
        fit = fit_power_law(tables.written, xmin=1)
        return math.nan if fit is None else fit.alpha


class OnePaperAuthors(Fact):
    """Most people write one paper."""

    source = "Lotka 1926, Journal of the Washington Academy of Sciences 16, 317-323"
    published, low, high = 0.6, 0.54, 0.77
    population = (
        "chemistry 1907-16 (.58), physics to 1900 (.59); own measurement of nine years: VIS .68 to "
        ".76, language .55"
    )
    null = "random authors"
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Share of the people who have one paper, 0..1."""
        written = tables.written[tables.written > 0]
        return float((written == 1).mean()) if len(written) else math.nan


class TopPercent(Fact):
    """One person in a hundred has a tenth of the authorships."""

    source = OWN
    published, low, high = 0.085, 0.055, 0.12
    population = "windows of nine years: VIS .06 to .08, language .09 to .12; ends widened"
    null = "random authors"
    least_years = 8

    def measure(self, tables: FactTables) -> float:
        """Share of authorships of the 1 % with most papers, 0..1, mean over five-year windows."""
        return mean_over_windows(tables, _top_share)


def _top_share(tables: FactTables) -> float:
    written = np.sort(tables.written[tables.written > 0])
    top = len(written) // 100
    return float(written[-top:].sum() / written.sum()) if top else math.nan


class StableOutput(Fact):
    """Who writes much goes on writing much."""

    source = OWN
    published, low, high = 0.45, 0.33, 0.6
    population = "windows of nine years: VIS .33 to .49, language .47 to .53; ends widened"
    null = "random authors"
    least_years = 8

    def measure(self, tables: FactTables) -> float:
        """Spearman correlation of papers in both halves, of people with papers in both."""
        from scipy.stats import spearmanr

        early = tables.year_of_seat < tables.years // 2
        people = tables.works.people
        first = np.bincount(tables.works.authors[early], minlength=people)
        second = np.bincount(tables.works.authors[~early], minlength=people)
        both = (first > 0) & (second > 0)
        if both.sum() < 10 or np.ptp(first[both]) == 0 or np.ptp(second[both]) == 0:
            return math.nan
        return float(spearmanr(first[both], second[both]).statistic)
