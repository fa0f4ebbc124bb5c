"""Facts of citations within five years, of the topics that papers combine, and of disruption."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from statistics import fmean

import numpy as np
import pandas as pd
from scipy import sparse, stats

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.metrics.facts.careers import LEAST_PARTNERS, super_partners
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.structure import choice_exponent
from virsci_society.metrics.facts.tables import FactTables
from virsci_society.metrics.impact import cd_index, count_later_papers
from virsci_society.society.literature.papers import DAYS_PER_YEAR

CITED_WITHIN = 5
"""Years after a paper in which its citations count; later papers are left out."""


def citations(tables: FactTables) -> IntArray:
    """Citations of each paper by papers of its year and of the five years after it."""
    count = len(tables.works)
    if tables.references is None:
        return np.zeros(count, dtype=np.int64)
    citing, cited = tables.references[tables.references[:, 1] < count].T
    apart = tables.year[citing] - tables.year[cited]
    return np.bincount(cited[(apart >= 0) & (apart <= CITED_WITHIN)], minlength=count)


def settled(tables: FactTables) -> int:
    """How many papers have five years after them; they are the first."""
    return int(np.searchsorted(tables.year, tables.years - CITED_WITHIN))


def relative_citations(tables: FactTables) -> FloatArray:
    """Citations over their mean in the year; NaN without five years or where a year has none."""
    counts = citations(tables).astype(np.float64)
    counts[settled(tables) :] = np.nan
    return over_year(tables, counts)


def over_year(tables: FactTables, values: FloatArray) -> FloatArray:
    """Values of papers over their mean in the year; NaN where that is 0 or the value is NaN."""
    known = ~np.isnan(values)
    year, size = tables.year[known], tables.years
    mean = np.bincount(year, values[known], size) / np.maximum(np.bincount(year, minlength=size), 1)
    found = np.full(len(values), np.nan)
    found[known] = values[known] / np.where(mean > 0, mean, np.nan)[year]
    return found


def years_of(tables: FactTables) -> Iterator[slice]:
    """The papers of each year, as long as they have five years after them."""
    ends = np.searchsorted(tables.year, np.arange(tables.years - CITED_WITHIN + 1))
    yield from (slice(int(a), int(b)) for a, b in pairwise(ends) if b > a)


def mean_ratio(values: FloatArray, chosen: BoolArray) -> float:
    """Mean of the chosen values divided by the mean of the others; NaN is ignored."""
    known = ~np.isnan(values)
    one, other = values[known & chosen], values[known & ~chosen]
    return float(one.mean() / other.mean()) if len(one) and other.any() else math.nan


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
        for person in np.flatnonzero(tables.written >= LEAST_PARTNERS).tolist():
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


LEAST_PAPERS = 10
"""Papers of a career that is looked at."""


def careers(tables: FactTables) -> Iterator[IntArray]:
    """Of each career of enough papers, the citations of its papers in order of their years."""
    counts, last = citations(tables), settled(tables)
    for papers in tables.works.papers_by_person:
        kept = np.array([paper for paper in papers if paper < last], dtype=np.int64)
        if len(kept) >= LEAST_PAPERS and counts[kept].any():
            # Ties of equally cited papers are broken by an order independent of time.
            yield counts[kept] * 2**32 + kept * 2654435761 % 2**32


class BestPaperAnywhere(Fact):
    """The best paper of a career may be any of its papers."""

    source = "Sinatra, Wang, Deville, Song and Barabasi 2016, Science 354, aaf5239"
    published, low, high = 0.5, 0.42, 0.58
    population = "2,887 physicists, 1893-2010: uniform, so .5; ends judged"
    needs = ("references",)
    null = "exchanged places"
    least_years = 20

    def measure(self, tables: FactTables) -> float:
        """Relative place (0..1) of the paper most cited within 5 years, mean over careers."""
        places = [(one.argmax() + 0.5) / len(one) for one in careers(tables)]
        return float(np.mean(places)) if places else math.nan


class HotStreak(Fact):
    """The two best papers of a career lie close together."""

    source = "Liu, Wang, Sinatra, Giles, Song and Wang 2018, Nature 559, 396-399"
    published, low, high = 1.5, 1.1, 3.0
    population = "20,040 scientists: one streak of 3.7 years; the ratio is read off, ends judged"
    needs = ("references",)
    null = "exchanged places"
    least_years = 20

    def measure(self, tables: FactTables) -> float:
        """Careers whose two best papers lie within a tenth of its papers, relative to chance."""
        close = expected = 0.0
        for one in careers(tables):
            size, most = len(one), len(one) // 10
            first, second = np.argsort(-one)[:2]
            close += abs(int(first) - int(second)) <= most
            expected += sum(2 * (size - k) for k in range(1, most + 1)) / (size * (size - 1))
        return close / expected if expected else math.nan


def disruption(tables: FactTables) -> FloatArray:
    """The CD index over five years of each paper; NaN without references, or five years."""
    found = np.full(len(tables.works), np.nan)
    if tables.references is None:
        return found
    width = max(len(tables.works), int(tables.references.max()) + 1)
    ones = np.ones(len(tables.references))
    ends = tables.references[:, 0], tables.references[:, 1]
    graph = sparse.coo_array((ones, ends), (len(tables.works), width)).tocsr()
    counts = count_later_papers(graph, tables.works.dates, CITED_WITHIN * DAYS_PER_YEAR)
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
    neutral = 0.0
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


COMBINATIONS = "Uzzi, Mukherjee, Stringer and Jones 2013, Science 342, 468-472"
POPULATION = "17.9 million papers 1945-2000, journals for topics and randomised networks for z"
HITS = 5.0
"""Per cent of the papers of a year that are hits."""
TAIL = 10.0
"""The percentile of a paper's z that says how atypical its most atypical pairs are."""


def reference_pairs(citing: IntArray, topics: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """The paper, and the key of the two topics (lower * count + higher), of every pair."""
    order = np.lexsort((topics, citing))
    papers, starts, sizes = np.unique(citing[order], return_index=True, return_counts=True)
    own, of, keys = topics[order], [], []
    for size in np.unique(sizes):
        first = starts[sizes == size]
        cited = own[first[:, None] + np.arange(size)]
        left, right = np.triu_indices(size, k=1)
        keys.append((cited[:, left] * count + cited[:, right]).ravel())
        of.append(np.repeat(papers[sizes == size], len(left)))
    every, pair_keys = np.concatenate(of), np.concatenate(keys)
    order = np.argsort(every, kind="stable")
    return every[order], pair_keys[order]


def main_keywords(keywords: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The keyword of each paper that most papers have; ties go to the first by name."""
    plain = {
        paper: sorted({word.casefold().strip() for word in words} - {""})
        for paper, words in keywords.items()
    }
    counts = pd.Series([word for words in plain.values() for word in words]).value_counts()
    often = counts.to_dict()
    return {
        paper: min(words, key=lambda word: (-often[word], word))
        for paper, words in plain.items()
        if words
    }


def pair_z(tables: FactTables) -> tuple[IntArray, FloatArray]:
    """The paper, and the z, of every pair of different topics among its references."""
    topics = main_keywords({str(n): words for n, words in enumerate(tables.topics or ())})
    numbers = {word: number for number, word in enumerate(sorted(set(topics.values())))}
    of = np.full(len(tables.works) + 1, -1)
    of[[int(n) for n in topics]] = [numbers[word] for word in topics.values()]
    references = np.zeros((0, 2), np.int64) if tables.references is None else tables.references
    topic = of[np.minimum(references[:, 1], len(tables.works))]
    if not (topic >= 0).any():
        return np.zeros(0, np.int64), np.zeros(0)
    width = len(numbers)
    paper, key = reference_pairs(references[topic >= 0, 0], topic[topic >= 0], width)
    apart = key // width != key % width
    paper, key = paper[apart], key[apart]
    ends = np.bincount(np.concatenate([key // width, key % width]), minlength=width) / 2
    _, kind, count = np.unique(key, return_inverse=True, return_counts=True)
    expected = 2 * ends[key // width] * ends[key % width] / max(1, len(key))
    return paper, (count[kind] - expected) / np.sqrt(expected)


def conventional_and_novel(tables: FactTables) -> tuple[FloatArray, BoolArray]:
    """Each paper's median z (NaN without pairs), and whether its 10th percentile is below 0."""
    paper, z = pair_z(tables)
    grouped, every = pd.Series(z, dtype="float64").groupby(paper), range(len(tables.works))
    median = np.asarray(grouped.quantile(0.5).reindex(every), float)
    tail = np.asarray(grouped.quantile(TAIL / 100).reindex(every), float)
    return median, tail < 0


class AtypicalHits(Fact):
    """Conventional papers with a few atypical combinations are hits most often."""

    source = COMBINATIONS
    published, low, high = 9.11, 6.2, 13.0
    population = f"{POPULATION}: 9.11 in a hundred, and 5 by definition of all; ends judged"
    needs = ("references", "topics")
    null = "exchanged places"
    least_years = 10

    def measure(self, tables: FactTables) -> float:
        """Hits in a hundred papers with a high median z and atypical pairs (10th percentile < 0).

        A hit is among the 5 % of its year's papers with most citations in five years; high is
        above the median of all papers.
        """
        median, novel = conventional_and_novel(tables)
        counts, hit = citations(tables), np.full(len(tables.works), np.nan)
        for papers in years_of(tables):
            edge = np.quantile(counts[papers], 1 - HITS / 100)
            above, at = counts[papers] > edge, counts[papers] == edge
            # Papers at the threshold share the rest of the 5 %.
            left = max(0.0, len(above) * HITS / 100 - above.sum())
            hit[papers] = above + at * (left / at.sum() if at.any() else 0.0)
        known = ~np.isnan(median) & ~np.isnan(hit)
        if not known.any():
            return math.nan
        both = known & novel & (median > np.median(median[known]))
        return float(100 * hit[both].mean()) if both.any() else math.nan


class TeamsCombine(Fact):
    """Teams combine topics that are rarely combined more often than single authors do."""

    source = COMBINATIONS
    published, low, high = 1.38, 1.1, 1.7
    population = f"{POPULATION}: 36.1, 39.8, 49.7 % with 1, 2, 3 or more authors; ends judged"
    needs = ("references", "topics")
    null = "exchanged places"
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Share of papers with atypical pairs (10th percentile of z < 0), of 3 authors over 1.

        Of three or more. A paper counts over the mean of its year: later ones cite more.
        """
        median, novel = conventional_and_novel(tables)
        sizes = tables.works.sizes
        shown = np.where(np.isnan(median) | (sizes == 2), np.nan, novel)
        return mean_ratio(over_year(tables, shown), sizes > 2)


class NewPairsPay(Fact):
    """Papers that join two topics for the first time are cited more."""

    source = "Foster, Rzhetsky and Evans 2015, American Sociological Review 80, 875-908"
    published, low, high = 1.31, 1.1, 1.7
    population = (
        "biomedicine 1983-2008, pairs of chemicals: 8.38 citations repeated, 11.00 new, 12.90 "
        "across clusters, the upper end widened"
    )
    needs = ("references", "topics")
    null = "exchanged places"
    least_years = 12

    def measure(self, tables: FactTables) -> float:
        """Citations of five years, over their year's, with a new pair of topics over those without.

        Of papers of two topics or more that come after a third of the years; both topics of a new
        pair were known, but in no paper together.
        """
        topics, year = tables.topics or (), tables.year
        seen: set[str] = set()
        joined: set[tuple[str, str]] = set()
        kind = np.full(len(tables.works), np.nan)
        for now in range(tables.years):
            papers = np.flatnonzero(year == now).tolist()
            pairs = {n: list(combinations(sorted(set(topics[n])), 2)) for n in papers}
            for n, own in pairs.items():
                known = [pair for pair in own if seen.issuperset(pair)]
                if known and 3 * now >= tables.years:
                    kind[n] = not joined.issuperset(known)
            seen.update(*(topics[n] for n in papers))
            joined.update(*pairs.values())
        relative = np.where(np.isnan(kind), np.nan, relative_citations(tables))
        return mean_ratio(relative, kind > 0)
