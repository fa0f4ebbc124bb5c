"""Topics that papers combine, in their references and as their own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.metrics.facts.citation_counts import (
    citations,
    mean_ratio,
    over_year,
    relative_citations,
    years_of,
)
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables

SOURCE = "Uzzi, Mukherjee, Stringer and Jones 2013, Science 342, 468-472"
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


def group_percentiles(
    of: IntArray, values: FloatArray, count: int, percents: Sequence[float]
) -> list[FloatArray]:
    """For each percentile, that of every group's values (interpolated); NaN without values."""
    grouped = pd.Series(values, dtype="float64").groupby(of)
    every = range(count)
    return [np.asarray(grouped.quantile(one / 100).reindex(every), float) for one in percents]


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
    """The paper, and the z, of every pair of different topics among its references.

    A paper's topic is its commonest keyword. z compares how many pairs of references have two
    topics with how many would if topics stood side by side as often as their numbers say; its
    standard deviation is that of a count (Poisson).
    """
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
    median, tail = group_percentiles(*pair_z(tables), len(tables.works), (50.0, TAIL))
    return median, tail < 0


class AtypicalHits(Fact):
    """Conventional papers with a few atypical combinations are hits most often."""

    source = SOURCE
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
            # Papers at the edge share what is left of the 5 %.
            left = max(0.0, len(above) * HITS / 100 - above.sum())
            hit[papers] = above + at * (left / at.sum() if at.any() else 0.0)
        known = ~np.isnan(median) & ~np.isnan(hit)
        if not known.any():
            return math.nan
        both = known & novel & (median > np.median(median[known]))
        return float(100 * hit[both].mean()) if both.any() else math.nan


class TeamsCombine(Fact):
    """Teams combine topics that are rarely combined more often than single authors do."""

    source = SOURCE
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
