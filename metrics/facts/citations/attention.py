"""Which papers are cited."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np

from virsci_society.metrics.facts.careers.partners import LEAST, super_partners
from virsci_society.metrics.facts.citation_counts import (
    citations,
    mean_ratio,
    relative_citations,
    years_of,
)
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.structure.attachment import choice_exponent
from virsci_society.metrics.facts.tables import FactTables


class CitationSpread(Fact):
    """Citations of the papers of a year are spread as a lognormal, in every field alike."""

    source = "Radicchi, Fortunato and Castellano 2008, PNAS 105, 17268-17272"
    published, low, high = 1.3, 0.7, 1.9
    population = (
        "14 fields of 1990, 1999 and 2004, all later citations: 1.3; ends judged, since five years "
        "have few citations"
    )
    needs = ("references",)
    null = "random citations"
    least_years = 8

    def measure(self, tables: FactTables) -> float:
        """Variance of the log of citations of five years over their year's mean, cited papers."""
        relative = relative_citations(tables)
        return float(np.log(relative[relative > 0]).var()) if (relative > 0).any() else math.nan


class TeamAdvantage(Fact):
    """Papers of several authors are cited more than those of one."""

    source = (
        "Wuchty, Jones and Uzzi 2007, Science 316, 1036-1039, and the chapter by Jones after it"
    )
    published, low, high = 2.63, 1.3, 3.5
    population = "science 1995-2005: 11.95 citations over 4.55; ends judged"
    needs = ("references",)
    null = "exchanged places"
    least_years = 8

    def measure(self, tables: FactTables) -> float:
        """Citations of five years, over their year's, of papers by several over those by one."""
        return mean_ratio(relative_citations(tables), tables.works.sizes > 1)


class SuperTiePremium(Fact):
    """With a super tie somebody's papers are cited more than without."""

    source = "Petersen 2015, PNAS 112, E4671-E4680"
    published, low, high = 1.17, 1.05, 1.4
    population = "473 careers in biology and physics: 17 % more; ends judged"
    needs = ("references",)
    null = "exchanged places"
    least_years = 12

    def measure(self, tables: FactTables) -> float:
        """Citations of five years, over their year's, with a super tie over those without.

        Of papers of people with 6 papers or more, each of whom counts with both kinds alike.
        """
        relative, works = relative_citations(tables).tolist(), tables.works
        partners = super_partners(tables)
        found = []
        for person in np.flatnonzero(tables.written >= LEAST).tolist():
            kinds: tuple[list[float], list[float]] = [], []
            for paper in works.papers_by_person[person]:
                if not math.isnan(relative[paper]):
                    without = partners[person].isdisjoint(works.teams[paper])
                    kinds[without].append(relative[paper])
            if all(kinds):
                found.append([*map(fmean, kinds)])
        together, apart = np.sum(found, axis=0) if found else (math.nan, 0.0)
        return float(together / apart) if apart else math.nan


class Reputation(Fact):
    """Papers of people who are much cited are cited more."""

    source = "Petersen, Fortunato, Pan et al. 2014, PNAS 111, 15316-15321"
    published, low, high = 1.66, 1.2, 2.2
    population = "450 scientists: ten times the citations, 66 % more a year in physics; ends judged"
    needs = ("references",)
    null = "exchanged places"
    least_years = 10

    def measure(self, tables: FactTables) -> float:
        """Factor of a paper's citations where its best-cited author had ten times the citations.

        By maximum likelihood over the citations of five years of the papers of each year, of
        authors with a citation before it; citations count from the boundary on.
        """
        counts, works, events = citations(tables), tables.works, []
        if tables.references is None:
            return math.nan
        citing, cited = tables.references[tables.references[:, 1] < len(works)].T
        for papers in years_of(tables):
            year = tables.year[papers.start]
            before = np.bincount(cited[tables.year[citing] < year], minlength=len(works))
            seats = before[tables.paper_of_seat].astype(float)
            held = np.bincount(works.authors, seats, works.people)[works.authors]
            own = np.maximum.reduceat(held, works.starts[:-1])[papers]
            some = own > 0
            if some.sum() > 1 and counts[papers][some].any():
                known = np.log10(own[some])
                events.append((np.repeat(known, counts[papers][some]), known))
        return float(np.exp(choice_exponent(events)))
