"""Facts of people and their careers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import BoolArray
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables, mean_over_windows
from virsci_society.metrics.networks.degree_tails import fit_power_law
from virsci_society.society.literature.authorships import FIRST, LAST

OWN = "own measurement, IEEE VIS 1994-2020 and language technology 2000-17"


class Lotka(Fact):
    """The number of people with n papers falls as a power of n."""

    source = (
        "Lotka 1926, Journal of the Washington Academy of Sciences 16, 317-323; Pao 1986, JASIS"
    )
    published, low, high = 2.0, 1.8, 3.0
    population = "chemistry 1907-16 (1.89) and physics to 1900 (2.02); upper end of later fields"
    null = "geometric papers"
    factor = 1.1
    least_years = 5
    resampled = "authors"

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
    null = "geometric papers"
    least_years = 5
    resampled = "authors"
    own = True

    def measure(self, tables: FactTables) -> float:
        """Share of the authors who have one paper, 0..1."""
        written = tables.written[tables.written > 0]
        return float((written == 1).mean()) if len(written) else math.nan


class TopPercent(Fact):
    """One person in a hundred has a tenth of the authorships."""

    source = OWN
    published, low, high = 0.085, 0.055, 0.12
    population = "windows of nine years: VIS .06 to .08, language .09 to .12; ends widened"
    null = "geometric papers"
    least_years = 8
    resampled = "authors"
    own = True

    def measure(self, tables: FactTables) -> float:
        """Share of authorships of the 1 % of authors with most papers, mean over five years."""

        def share(window: FactTables) -> float:
            written = np.sort(window.written[window.written > 0])
            top = len(written) // 100
            return float(written[-top:].sum() / written.sum()) if top else math.nan

        return mean_over_windows(tables, share)


class StableOutput(Fact):
    """Who writes much goes on writing much."""

    source = OWN
    published, low, high = 0.45, 0.33, 0.6
    population = "windows of nine years: VIS .33 to .49, language .47 to .53; ends widened"
    null = "random authors"
    neutral = 0.0
    least_years = 8
    resampled = "authors"
    own = True

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
    neutral = 1.0
    least_years = 8
    own = True

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
    neutral = 0.0
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
    neutral = 1.0
    least_years = 3
    own = True

    def measure(self, tables: FactTables) -> float:
        """Share of newcomers among last authors over that among first, of papers of several."""
        new, works = newcomers(tables), tables.works
        joint = np.repeat(works.sizes > 1, works.sizes)
        first, last = (new[works.led(place) & joint] for place in (FIRST, LAST))
        return float(last.mean() / first.mean()) if len(first) and first.any() else math.nan


SUPER_TIES_SOURCE = "Petersen 2015, PNAS 112, E4671-E4680"
LEAST_PARTNERS = 6
"""Papers of those whose partners are looked at."""


def _ties_of_each(tables: FactTables) -> pd.DataFrame:
    """Each tie from both of its ends: person, partner, joint papers."""
    ties = tables.ties
    return pd.DataFrame(
        {
            "scientist": np.concatenate([ties.one, ties.other]),
            "partner": np.concatenate([ties.other, ties.one]),
            "joint_papers": np.concatenate([ties.papers, ties.papers]),
        }
    )


def super_ties(ends: pd.DataFrame) -> BoolArray:
    """Whether each tie exceeds the expected maximum of the same number of exponential ties."""
    strength = ends["joint_papers"].astype("float64")
    grouped = strength.groupby(ends["scientist"])
    mean, count = grouped.transform("mean"), grouped.transform("size")
    threshold = (mean - 1) * np.log(count)
    return np.asarray((strength > threshold) & (strength >= 2) & (count >= 2), dtype=bool)


def super_partners(tables: FactTables) -> Mapping[int, set[int]]:
    """The partners of each person with 6 papers or more to whom it has a super tie."""
    ends = _ties_of_each(tables)
    strong = ends[super_ties(ends) & (tables.written[ends["scientist"]] >= LEAST_PARTNERS)]
    partners: dict[int, set[int]] = defaultdict(set)
    for person, partner in zip(strong["scientist"], strong["partner"], strict=True):
        partners[int(person)].add(int(partner))
    return partners


class StrongestPartner(Fact):
    """The strongest partner stands on half of somebody's papers."""

    source = SUPER_TIES_SOURCE
    published, low, high = 0.5, 0.4, 0.65
    population = (
        "473 careers in biology and physics: often more than half; ends judged, VIS and language "
        "technology .47 to .58"
    )
    null = "rewired authors"
    least_years = 8
    own = True

    def measure(self, tables: FactTables) -> float:
        """Share of papers with the strongest partner, mean over people with 6 papers or more."""
        ends = _ties_of_each(tables)
        most = np.zeros(tables.works.people)
        np.maximum.at(most, ends["scientist"].to_numpy(), ends["joint_papers"].to_numpy())
        chosen = tables.written >= LEAST_PARTNERS
        return float((most[chosen] / tables.written[chosen]).mean()) if chosen.any() else math.nan


class SuperTies(Fact):
    """Most papers of prolific people have a super tie on them."""

    source = SUPER_TIES_SOURCE
    published, low, high = 0.73, 0.5, 0.85
    population = "473 careers: about half; VIS and language .65 to .81; upper end judged"
    null = "rewired authors"
    least_years = 8
    own = True

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
            for person in np.flatnonzero(tables.written >= LEAST_PARTNERS).tolist()
        ]
        return float(np.mean(shares)) if shares else math.nan
