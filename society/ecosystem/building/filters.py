"""Filters that select papers of a source, with the number that each of them removes.

The past is known only as of the boundary: its citation counts are those from before it, where the
source can tell. Where it cannot, past papers keep the count of the day of their collection, which
is named so, and the citations of scientists are unknown: no rule may know of later ones.
Contemporary papers have the count of the day of their collection.
The filters on people stand below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from virsci_society.agents.arrays import BoolArray, IntArray
from virsci_society.agents.lazy_imports import sparse
from virsci_society.society.ecosystem.building.build_options import (
    CountOn,
    PaperFilters,
    PeopleFilters,
)
from virsci_society.society.ecosystem.building.raw_corpus import UNKNOWN, RawCorpus

COUNTED = "citations of past papers are counted from the references of papers before the boundary"
BY_YEAR = (
    "citations of past papers are the source's counts per year, those from the boundary on left out"
)
COUNTED_BOTH_WAYS = (
    "citations of past papers are counted from the references of papers before the boundary or, "
    "where that is more, are the source's counts per year without those from the boundary on"
)
COLLECTED = (
    "citations of past papers are counts at collection time, which include citations made "
    "after the boundary: the source has no references to count"
)
UNDATED = (
    "citations of scientists are unknown: counts at collection time are not those of the past, so "
    "that no profile and no rule uses them"
)
NO_COUNTS = "citations of past papers are unknown: the source has neither references nor counts"

Step = dict[str, int | str]
"""One filter for the manifest: ``filter``, number ``in``, number ``removed``."""


@dataclass(frozen=True, eq=False)
class PaperSelection:
    """The papers of a corpus that are kept, by row.

    Attributes:
        contemporary: those of the boundary year and after that are kept.
        citations: of papers before the boundary as of the boundary where the source can tell, of
            others at collection time; -1 where unknown.
    """

    past: BoolArray
    contemporary: BoolArray
    citations: IntArray
    citation_source: str
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def dated_citations(self) -> IntArray:
        """Citations that are known to be from before the boundary, by row; -1 where unknown.

        It is for whatever the past may know. A count at collection time is none of these.
        """
        if self.citation_source == COLLECTED:
            return np.full_like(self.citations, UNKNOWN)
        return self.citations

    @property
    def kept(self) -> BoolArray:
        """All papers that are kept."""
        kept: BoolArray = self.past | self.contemporary
        return kept


def select_papers(corpus: RawCorpus, filters: PaperFilters) -> PaperSelection:
    """Split a source at the boundary and apply the filters to either side."""
    citations, citations_are = citations_at_boundary(corpus)
    sides = {"past": corpus.known, "contemporary": ~corpus.known}
    least = {"past": filters.min_citations_past, "contemporary": filters.min_citations_contemporary}
    steps: list[Step] = []
    notes: list[str] = []
    for side, papers in sides.items():
        at_collection = side == "contemporary" or citations_are == COLLECTED
        when = " at collection" if at_collection and least[side] > 0 else ""
        for name, holds in _rules(corpus, filters, citations, least[side], when):
            left = papers & holds
            before, after = int(papers.sum()), int(left.sum())
            steps.append({"filter": f"{side}: {name}", "in": before, "removed": before - after})
            if "citations" in name and least[side] > 0:
                notes.extend(_unknown_note(side, int((papers & (citations < 0)).sum())))
            papers = left
        sides[side] = papers
    return PaperSelection(
        sides["past"], sides["contemporary"], citations, citations_are, steps, notes
    )


def citations_at_boundary(corpus: RawCorpus) -> tuple[IntArray, str]:
    """Count citations: of papers before the boundary as of the boundary, of others as collected.

    A source's counts per year give the count at the boundary only where they reach back to it. A
    source with neither references nor such counts gives those at collection time for all papers.
    Unknown counts are -1; the sentence tells the origin of the others.
    """
    by_year = _by_year(corpus)
    known = corpus.known
    if corpus.has_references and by_year is not None:
        at_boundary, sentence = np.maximum(corpus.citations_received, by_year), COUNTED_BOTH_WAYS
    elif corpus.has_references:
        at_boundary, sentence = corpus.citations_received, COUNTED
    elif by_year is not None:
        at_boundary, sentence = by_year, BY_YEAR
    else:
        at_boundary = corpus.collected_citations
        sentence = COLLECTED if bool((at_boundary[known] >= 0).any()) else NO_COUNTS
    return np.where(known, at_boundary, corpus.collected_citations), sentence


def _by_year(corpus: RawCorpus) -> IntArray | None:
    if corpus.first_counted is None or corpus.first_counted > corpus.boundary:
        return None
    # Counts per year may cover the last years only: what they leave is from before them.
    left = np.maximum(corpus.collected_citations - corpus.later_citations, 0)
    return np.where(corpus.collected_citations >= 0, left, UNKNOWN)


def _rules(
    corpus: RawCorpus, filters: PaperFilters, citations: IntArray, least: int, when: str
) -> list[tuple[str, BoolArray]]:
    everything = np.ones(len(corpus), dtype=bool)
    first, last = filters.first_year, filters.last_year
    years = everything.copy()
    if first is not None:
        years &= corpus.years >= first
    if last is not None:
        years &= corpus.years <= last
    enough = everything if least <= 0 else citations >= least
    return [
        (f"year range {first or 'any'} to {last or 'any'}", years),
        ("abstract required", corpus.abstracts if filters.require_abstract else everything),
        (f"at least {least} citations{when}", enough),
    ]


def _unknown_note(side: str, unknown: int) -> list[str]:
    if not unknown:
        return []
    return [
        f"{unknown} {side} papers were left out by the least number of citations because "
        "theirs is unknown: an unknown count cannot be shown to reach it"
    ]


BLOCK = 4096
"""People whose co-authors are counted together."""


def select_scientists(
    corpus: RawCorpus, selection: PaperSelection, filters: PeopleFilters
) -> tuple[IntArray, list[Step]]:
    """Select the scientists, as ascending columns of ``corpus.people``, and note each filter.

    Whatever the papers and co-authors are counted on, a scientist has at least one kept paper.
    """
    counted = corpus.people if filters.count_on == "all" else _rows(corpus, selection.past)
    written = _sums(counted)
    left = np.flatnonzero(_sums(corpus.people))
    steps: list[Step] = []

    def keep(name: str, holds: BoolArray) -> IntArray:
        removed = int(len(left) - holds.sum())
        steps.append({"filter": f"people: {name}", "in": len(left), "removed": removed})
        return left[holds]

    left = keep("at least one kept past paper", _sums(_rows(corpus, selection.past))[left] > 0)
    left = keep(f"at least {filters.min_papers} papers", written[left] >= filters.min_papers)
    enough = np.ones(len(left), dtype=bool)
    if filters.min_coauthors > 0:
        enough = count_coauthors(counted, left) >= filters.min_coauthors
    left = keep(f"at least {filters.min_coauthors} co-authors", enough)
    if filters.active_years is not None:
        since = corpus.boundary - filters.active_years
        recent = _rows(corpus, selection.past & (corpus.years >= since))
        left = keep(f"a kept past paper from {since} on", _sums(recent)[left] > 0)
    return left, steps


def count_scientists(
    corpus: RawCorpus, selection: PaperSelection, filters: PeopleFilters
) -> dict[str, int]:
    """Count the scientists under either setting of ``count_on``, whatever the filters say."""
    ways: tuple[CountOn, ...] = ("all", "kept")
    return {
        way: len(select_scientists(corpus, selection, replace(filters, count_on=way))[0])
        for way in ways
    }


def count_coauthors(people: sparse.csr_array, columns: IntArray) -> IntArray:
    """Count the different co-authors of some people, columns of a matrix of papers by people."""
    by_author = people.T.tocsr()
    numbers = np.zeros(len(columns), dtype=np.int64)
    for start in range(0, len(columns), BLOCK):
        some = columns[start : start + BLOCK]
        # The product counts everybody as an own co-author, hence the one less.
        together = by_author[some] @ people
        numbers[start : start + BLOCK] = np.maximum(np.diff(together.indptr) - 1, 0)
    return numbers


def count_joint_papers(
    people: sparse.csr_array, columns: Sequence[int] | IntArray
) -> sparse.csr_array:
    """Count the papers that each two of some people wrote together.

    ``columns`` of the matrix of papers by people name them, in the order of the result, which is a
    symmetric int64 matrix with zero diagonal.
    """
    of_each = people.T.tocsr()[np.asarray(columns, dtype=np.int64)].astype(np.int64)
    counts = (of_each @ of_each.T).tocoo()
    # Without the diagonal, which counts everybody's own papers.
    apart = counts.row != counts.col
    pairs = (counts.row[apart], counts.col[apart])
    joint = sparse.csr_array((counts.data[apart], pairs), shape=counts.shape)
    joint.sort_indices()
    return joint


def shuffled_numbers(count: int, seed: int) -> IntArray:
    """Random distinct numbers below ``count``: a masked name reveals nothing about a name."""
    order = np.random.default_rng([seed % 2**64, count]).permutation(count)
    numbers = np.empty(count, dtype=np.int64)
    numbers[order] = np.arange(count)
    return numbers


def _rows(corpus: RawCorpus, papers: BoolArray) -> Any:
    return corpus.people[np.flatnonzero(papers)]


def _sums(people: sparse.csr_array) -> IntArray:
    return np.bincount(people.indices, minlength=people.shape[1]).astype(np.int64)
