"""Where in a career the most cited papers stand."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.metrics.facts.citation_counts import citations, settled
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import FactTables

LEAST = 10
"""Papers of a career that is looked at."""


def careers(tables: FactTables) -> Iterator[IntArray]:
    """Of each career of enough papers, the citations of its papers in order of their years."""
    counts, last = citations(tables), settled(tables)
    for papers in tables.works.papers_by_person:
        kept = np.array([paper for paper in papers if paper < last], dtype=np.int64)
        if len(kept) >= LEAST and counts[kept].any():
            # Papers cited as often are told apart by an order that has nothing to do with time.
            yield counts[kept] * 2**32 + kept * 2654435761 % 2**32


class BestPaperAnywhere(Fact):
    """The best paper of a career may be any of its papers."""

    source = "Sinatra, Wang, Deville, Song and Barabasi 2016, Science 354, aaf5239"
    published, low, high = 0.5, 0.42, 0.58
    population = "2,887 physicists, 1893-2010: uniform, so .5; ends judged"
    needs = ("references",)
    null = "rising citations"
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
        """Careers whose two best papers lie within a tenth of its papers, over those by chance."""
        close = expected = 0.0
        for one in careers(tables):
            size, most = len(one), len(one) // 10
            first, second = np.argsort(-one)[:2]
            close += abs(int(first) - int(second)) <= most
            expected += sum(2 * (size - k) for k in range(1, most + 1)) / (size * (size - 1))
        return close / expected if expected else math.nan
