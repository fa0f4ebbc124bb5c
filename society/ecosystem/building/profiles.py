"""The third pass over a source, which reads the scientists' papers and makes their profiles.

The pass reads topics and affiliations. Papers that the filters left out count here, too. Nothing
from the boundary year on is read.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.lazy_imports import pa, pc, sparse
from virsci_society.society.ecosystem.building.kept_papers import reread_records
from virsci_society.society.ecosystem.building.outline import Outline
from virsci_society.society.ecosystem.building.terms import TermExtractor
from virsci_society.society.ecosystem.importers.records import RawRecord
from virsci_society.society.ecosystem.people import People

AFFILIATIONS = 3
"""Most affiliations of a profile."""
INTERESTS = 10
"""Most interests of a profile."""
COLLABORATORS = 10
"""Most collaborators of a profile."""


@dataclass(frozen=True, eq=False)
class AuthorPapers:
    """Papers with at least one scientist, by year, then id.

    A seat is one scientist on one paper.

    Attributes:
        rows: row of each paper in the outline.
        terms: topics of each paper, as numbers into ``words``.
        words: the terms.
        papers: paper of each seat; ascending within a scientist.
        scientists: scientist of each seat; ascending.
        affiliations: affiliation of each seat; possibly empty.
    """

    rows: IntArray
    terms: Sequence[tuple[int, ...]]
    words: Sequence[str]
    papers: IntArray
    scientists: IntArray
    affiliations: Sequence[str]

    def by_scientist(self, count: int) -> Iterator[tuple[IntArray, Sequence[str]]]:
        """Papers and affiliations of each of ``count`` scientists, the oldest paper first."""
        ends = np.searchsorted(self.scientists, np.arange(count + 1))
        for start, end in pairwise(ends.tolist()):
            yield self.papers[start:end], self.affiliations[start:end]

    def interests(self, papers: IntArray) -> list[str]:
        """The most frequent terms of some papers; among equals the one that came first."""
        counts = Counter(term for paper in papers.tolist() for term in self.terms[paper])
        return [self.words[term] for term, _ in counts.most_common(INTERESTS)]


def read_author_papers(
    records: Iterable[RawRecord],
    outline: Outline,
    scientists: IntArray,
    terms: TermExtractor,
    progress: Callable[[int], None],
) -> AuthorPapers:
    """Read the topics and affiliations of the scientists' papers.

    The scientists are columns of ``outline.people``, in the order of the population.
    """
    number_of = np.full(outline.people.shape[1], -1, dtype=np.int64)
    number_of[scientists] = np.arange(len(scientists))
    draft = _AuthorPapersBuilder(number_of, terms)
    for row, record in reread_records(records, outline, progress):
        if outline.known[row]:
            draft.add(row, record, outline.author_columns(row))
    return draft.finished(outline)


def make_profiles(
    author_papers: AuthorPapers, outline: Outline, citations: IntArray, joint: sparse.csr_array
) -> tuple[People, IntArray]:
    """Make the profiles at the boundary, with masked names, and the career starts.

    Collaborators are named where they are scientists of this population: the name of anybody else
    would lead nowhere. ``citations`` are those known to be from before the boundary, by row of the
    outline, -1 where unknown; ``joint`` are the joint papers of each two scientists.
    """
    count = joint.shape[0]
    names = [f"Scientist{number}" for number in range(count)]
    years, counts = outline.years[author_papers.rows], citations[author_papers.rows]
    schema = People.schema()
    columns: dict[str, list[object]] = {name: [] for name in schema.names}
    for number, (papers, places) in enumerate(author_papers.by_scientist(count)):
        known = counts[papers][counts[papers] >= 0]
        columns["id"].append(names[number])
        columns["affiliations"].append(most_frequent_affiliations(places))
        columns["interests"].append(author_papers.interests(papers))
        columns["papers"].append(len(papers))
        columns["citations"].append(int(known.sum()) if len(known) else None)
        columns["collaborators"].append(frequent_collaborators(joint, number, names))
    starts = np.array(
        [years[p].min() for p, _ in author_papers.by_scientist(count)], dtype=np.int64
    )
    return People(pa.table(columns, schema=schema)), starts


def most_frequent_affiliations(affiliations: Sequence[str]) -> list[str]:
    """The most frequent affiliations, oldest first in ``affiliations``; among equals the latest."""
    # Backwards: of equal counts a Counter lists the one first that was counted first.
    counts = Counter(place for place in reversed(affiliations) if place)
    return [place for place, _ in counts.most_common(AFFILIATIONS)]


def frequent_collaborators(joint: sparse.csr_array, number: int, names: Sequence[str]) -> list[str]:
    """The names of the scientists with the most joint papers; among equals by name."""
    start, end = joint.indptr[number], joint.indptr[number + 1]
    others = joint.indices[start:end].tolist()
    together = dict(zip(others, joint.data[start:end].tolist(), strict=True))
    ranked = sorted(together, key=lambda other: (-together[other], names[other]))
    return [names[other] for other in ranked[:COLLABORATORS]]


class _AuthorPapersBuilder:
    """Collects the papers of scientists record by record."""

    def __init__(self, number_of: IntArray, terms: TermExtractor) -> None:
        self._number_of, self._terms = number_of, terms
        self._rows, self._papers = array("q"), array("q")
        self._scientists, self._places = array("q"), array("q")
        self._about: list[tuple[int, ...]] = []
        self._words: dict[str, int] = {}
        self._place_numbers: dict[str, int] = {}

    def add(self, row: int, record: RawRecord, columns: IntArray) -> None:
        """Add a known paper, its authors given as columns; ignored if none is a scientist."""
        numbers = self._number_of[columns]
        if not (numbers >= 0).any():
            return
        paper = len(self._rows)
        self._rows.append(row)
        terms = self._terms.extract(record)
        self._about.append(tuple(self._words.setdefault(t, len(self._words)) for t in terms))
        for number, author in zip(numbers.tolist(), record.authors, strict=True):
            if number >= 0:
                known = self._place_numbers
                self._papers.append(paper)
                self._scientists.append(number)
                self._places.append(known.setdefault(author.affiliation, len(known)))

    def finished(self, outline: Outline) -> AuthorPapers:
        """All papers that were added, by year, then id."""
        rows = np.array(self._rows, dtype=np.int64)
        order = year_id_order(outline, rows)
        place_of = np.empty(len(order), dtype=np.int64)
        place_of[order] = np.arange(len(order))
        papers = place_of[np.array(self._papers, dtype=np.int64)]
        scientists = np.array(self._scientists, dtype=np.int64)
        seats = np.lexsort((papers, scientists))
        places, words = list(self._place_numbers), list(self._words)
        return AuthorPapers(
            rows=rows[order],
            terms=[self._about[paper] for paper in order.tolist()],
            words=words,
            papers=papers[seats],
            scientists=scientists[seats],
            affiliations=[places[self._places[seat]] for seat in seats.tolist()],
        )


def year_id_order(outline: Outline, rows: IntArray) -> IntArray:
    """The order that sorts rows of an outline by year, then id."""
    table = pa.table(
        {"year": pa.array(outline.years[rows]), "id": outline.ids.take(pa.array(rows))}
    )
    order = pc.sort_indices(table, [("year", "ascending"), ("id", "ascending")])
    return np.asarray(order, dtype=np.int64)
