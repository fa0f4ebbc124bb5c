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
    first, last = filters.first_year, filters.last_year
    everything = np.ones(len(corpus), dtype=bool)
    in_years = everything if first is None else corpus.years >= first
    in_years = in_years if last is None else in_years & (corpus.years <= last)
    sides = {"past": corpus.known, "contemporary": ~corpus.known}
    leasts = {"past": filters.min_citations_past}
    leasts["contemporary"] = filters.min_citations_contemporary
    steps: list[Step] = []
    notes: list[str] = []
    for side, least in leasts.items():
        at_collection = side == "contemporary" or citations_are == COLLECTED
        when = " at collection" if at_collection and least > 0 else ""
        rules = {
            f"year range {first or 'any'} to {last or 'any'}": in_years,
            "abstract required": corpus.abstracts if filters.require_abstract else everything,
            f"at least {least} citations{when}": everything if least <= 0 else citations >= least,
        }
        for name, holds in rules.items():
            before, left = sides[side], sides[side] & holds
            removed = int(before.sum() - left.sum())
            steps.append({"filter": f"{side}: {name}", "in": int(before.sum()), "removed": removed})
            sides[side] = left
        # The last rule is that of citations.
        if least > 0 and (unknown := int((before & (citations < 0)).sum())):
            notes.append(
                f"{unknown} {side} papers were left out by the least number of citations because "
                "theirs is unknown: an unknown count cannot be shown to reach it"
            )
    return PaperSelection(
        sides["past"], sides["contemporary"], citations, citations_are, steps, notes
    )


def citations_at_boundary(corpus: RawCorpus) -> tuple[IntArray, str]:
    """Count citations: of papers before the boundary as of the boundary, of others as collected.

    A source's counts per year give the count at the boundary only where they reach back to it. A
    source with neither references nor such counts gives those at collection time for all papers.
    Unknown counts are -1; the sentence tells the origin of the others.
    """
    known, collected = corpus.known, corpus.collected_citations
    by_year = None
    if corpus.first_counted is not None and corpus.first_counted <= corpus.boundary:
        # Counts per year may cover the last years only: what they leave is from before them.
        left = np.maximum(collected - corpus.later_citations, 0)
        by_year = np.where(collected >= 0, left, UNKNOWN)
    if corpus.has_references and by_year is not None:
        at_boundary, sentence = np.maximum(corpus.citations_received, by_year), COUNTED_BOTH_WAYS
    elif corpus.has_references:
        at_boundary, sentence = corpus.citations_received, COUNTED
    elif by_year is not None:
        at_boundary, sentence = by_year, BY_YEAR
    else:
        at_boundary = collected
        sentence = COLLECTED if bool((collected[known] >= 0).any()) else NO_COUNTS
    return np.where(known, at_boundary, collected), sentence


BLOCK = 4096
"""People whose co-authors are counted together."""


def select_scientists(
    corpus: RawCorpus, selection: PaperSelection, filters: PeopleFilters
) -> tuple[IntArray, list[Step]]:
    """Select the scientists, as ascending columns of ``corpus.people``, and note each filter.

    Whatever the papers and co-authors are counted on, a scientist has at least one kept paper.
    """

    def papers_of_each(papers: BoolArray) -> IntArray:
        """The number of some papers by each author."""
        authors = corpus.people[np.flatnonzero(papers)].indices
        return np.bincount(authors, minlength=corpus.people.shape[1]).astype(np.int64)

    counted = corpus.known if filters.count_on == "all" else selection.past
    left = np.flatnonzero(papers_of_each(corpus.known))
    steps: list[Step] = []

    def keep(name: str, holds: BoolArray) -> IntArray:
        removed = int(len(left) - holds.sum())
        steps.append({"filter": f"people: {name}", "in": len(left), "removed": removed})
        return left[holds]

    left = keep("at least one kept past paper", papers_of_each(selection.past)[left] > 0)
    least = filters.min_papers
    left = keep(f"at least {least} papers", papers_of_each(counted)[left] >= least)
    enough = np.ones(len(left), dtype=bool)
    if filters.min_coauthors > 0:
        enough = count_coauthors(corpus.people[np.flatnonzero(counted)], left)
        enough = enough >= filters.min_coauthors
    left = keep(f"at least {filters.min_coauthors} co-authors", enough)
    if filters.active_years is not None:
        since = corpus.boundary - filters.active_years
        recent = papers_of_each(selection.past & (corpus.years >= since))
        left = keep(f"a kept past paper from {since} on", recent[left] > 0)
    return left, steps


def count_scientists(
    corpus: RawCorpus, selection: PaperSelection, filters: PeopleFilters
) -> dict[str, int]:
    """Count the scientists under either setting of ``count_on``, whatever the filters say."""
    ways: tuple[CountOn, ...] = ("all", "kept")
    counted = (replace(filters, count_on=way) for way in ways)
    return {one.count_on: len(select_scientists(corpus, selection, one)[0]) for one in counted}


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
