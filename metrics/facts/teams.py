"""Facts of teams, their sizes and panels."""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, special

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables

SIZES = (
    "Wuchty, Jones and Uzzi 2007, Science 316, 1036-1039; Jakab, Kittl and Kiesslich 2024, "
    "Scientometrics"
)


class TeamGrowth(Fact):
    """Teams grow year by year."""

    source = SIZES
    published, low, high = 1.8, 1.0, 3.0
    population = (
        "science 1955-2000 (1.9 to 3.5 authors, 1.4 % a year), PubMed 2000-20 (2.28 %); ends judged"
    )
    null = "shuffled dates"
    neutral = 0.0
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

    source = SIZES
    published, low, high = -5.3, -9.0, -2.0
    population = "PubMed 2000-20, from 17.0 to 5.7 %; ends judged"
    null = "shuffled dates"
    neutral = 0.0
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


class ExtendedTeams(Fact):
    """Beside core teams, whose sizes are Poisson, there are extended ones with a long tail."""

    source = "Milojevic 2014, PNAS 111, 3984-3989"
    published, low, high = 0.31, 0.1, 0.45
    population = "astronomy 2006-10: core 57 %, core+1 12 %, extended 31 %; ends judged"
    null = "random sizes"
    neutral = 0.0
    least_years = 2

    def measure(self, tables: FactTables) -> float:
        """Share of extended teams, 0..1, of a mixture of two laws by maximum likelihood.

        Core teams are Poisson without zero, extended ones follow a power law from the median on, or
        from one author more or less.
        """
        sizes, counts = np.unique(tables.works.sizes, return_counts=True)
        if len(sizes) < 3:
            return math.nan
        middle = int(np.median(tables.works.sizes))
        mean = float(tables.works.sizes.mean())
        # Bounded on the logit and log scales; two starts, since the likelihood may have two tops.
        found = [
            optimize.minimize(
                _loss,
                (math.log(mean), tail, share),
                args=(sizes.astype(np.float64), counts.astype(np.float64), start),
                method="Nelder-Mead",
            )
            for start in range(max(2, middle - 1), middle + 2)
            for tail, share in ((0.2, -0.5), (1.0, -4.0))
        ]
        return float(special.expit(min(found, key=lambda one: float(one.fun)).x[2]))


def _loss(given: FloatArray, sizes: FloatArray, counts: FloatArray, start: int) -> float:
    """Minus the log likelihood at log mean, log(exponent - 1) and logit of the share."""
    log_mean, tail, share = np.clip(given, (-3, -3, -12), (5, 3, 12))
    mean, exponent, weight = math.exp(log_mean), 1 + math.exp(tail), special.expit(share)
    core = sizes * log_mean - mean - special.gammaln(sizes + 1) - math.log(-math.expm1(-mean))
    long = np.where(sizes >= start, sizes**-exponent / special.zeta(exponent, start), 0.0)
    return -float(counts @ np.log((1 - weight) * np.exp(core) + weight * long + 1e-300))


PANELS = (
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

    source = PANELS
    published, low, high = 0.245, 0.18, 0.31
    population = "166 manuscripts of 2014 (25.9 %) and 882 of 2021 (23 %); ends by their errors"
    needs = ("panels",)
    null = "exchanged panels"
    factor = 0.8
    least_years = 1
    resampled = "manuscripts"

    def measure(self, tables: FactTables) -> float:
        """Share of the manuscripts judged by two panels that one accepts and one does not, 0..1."""
        judged, one, _ = _votes(tables)
        return one / judged if judged else math.nan


class PanelsChange(Fact):
    """Half of what one panel accepts another does not."""

    source = PANELS
    published, low, high = 0.5, 0.4, 0.62
    population = "166 manuscripts of 2014 and 882 of 2021: about half; ends judged"
    needs = ("panels",)
    null = "exchanged panels"
    factor = 0.8
    least_years = 1
    resampled = "manuscripts"

    def measure(self, tables: FactTables) -> float:
        """Share of the acceptances of a panel that the other panel does not accept, 0..1."""
        _, one, accepted = _votes(tables)
        return one / accepted if accepted else math.nan


class TeamsAgain(Fact):
    """Few papers are by a team that has written before, and far more than by chance."""

    source = "own measurement, IEEE VIS 1994-2020 and language technology 2000-17"
    published, low, high = 0.06, 0.018, 0.14
    population = "windows of nine years: VIS .02 to .05, language .13; ends widened"
    null = "rewired authors"
    least_years = 5
    own = True

    def measure(self, tables: FactTables) -> float:
        """Share of papers of several authors whose very team has a paper of an earlier year."""
        known: dict[frozenset[int], int] = {}
        repeated = joint = 0
        for year, team in zip(tables.year.tolist(), tables.works.teams, strict=True):
            if len(team) > 1:
                joint += 1
                repeated += known.setdefault(frozenset(team), year) < year
        return repeated / joint if joint else math.nan
