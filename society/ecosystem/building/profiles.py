"""Careers: the papers of the scientists before the boundary, and the profiles they make.

The third pass over a source: what the papers of the chosen people are about and where they
were written. Papers that the filters left out count here too. Nothing from the boundary year
on is looked at.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from society.ecosystem.kept import again
from society.ecosystem.outline import Numbers, Outline
from society.ecosystem.people import People, schema
from society.ecosystem.records import RawRecord
from society.ecosystem.terms import Terms

if TYPE_CHECKING:
    from scipy.sparse import csr_array

AFFILIATIONS = 3
INTERESTS = 10
COLLABORATORS = 10


@dataclass(frozen=True, eq=False)
class Careers:
    """Papers with at least one scientist, by year, then id.

    Attributes:
        rows: of each paper, its row in the outline.
        terms: what each paper is about, as numbers into ``words``.
        words: the terms.
        papers: of each seat of a scientist, the paper; ascending within a scientist.
        scientists: of each seat, the scientist; ascending.
        places: of each seat, the affiliation; possibly empty.
    """

    rows: Numbers
    terms: Sequence[tuple[int, ...]]
    words: Sequence[str]
    papers: Numbers
    scientists: Numbers
    places: Sequence[str]

    def of_each(self, count: int) -> Iterator[tuple[Numbers, Sequence[str]]]:
        """Papers and affiliations of every scientist, the oldest paper first."""
        ends = np.searchsorted(self.scientists, np.arange(count + 1))
        for start, end in pairwise(ends.tolist()):
            yield self.papers[start:end], self.places[start:end]

    def interests(self, papers: Numbers) -> list[str]:
        """The most frequent terms of some papers; among equals the one that came first."""
        counts = Counter(term for paper in papers.tolist() for term in self.terms[paper])
        return [self.words[term] for term, _ in counts.most_common(INTERESTS)]


def read_careers(
    records: Iterable[RawRecord],
    outline: Outline,
    scientists: Numbers,
    terms: Terms,
    progress: Callable[[int], None] | None = None,
) -> Careers:
    """Read what is to be known of the scientists; their columns stand in their order."""
    number_of = np.full(outline.people.shape[1], -1, dtype=np.int64)
    number_of[scientists] = np.arange(len(scientists))
    draft = _Draft(number_of, terms)
    for row, record in again(records, outline, progress):
        if outline.known[row]:
            draft.add(row, record, outline.seats(row))
    return draft.finished(outline)


def profiles(
    careers: Careers, outline: Outline, citations: Numbers, joint: csr_array
) -> tuple[People, Numbers]:
    """The profiles at the boundary, with masked names in this order, and career starts.

    Collaborators are named where they are scientists of this population: the name of anybody
    else would lead nowhere.
    """
    import pyarrow as pa

    count = joint.shape[0]
    names = [f"Scientist{number}" for number in range(count)]
    years, counts = outline.years[careers.rows], citations[careers.rows]
    columns: dict[str, list[object]] = {one.name: [] for one in schema()}
    for number, (papers, places) in enumerate(careers.of_each(count)):
        known = counts[papers][counts[papers] >= 0]
        columns["id"].append(names[number])
        columns["affiliations"].append(frequent_places(places))
        columns["interests"].append(careers.interests(papers))
        columns["papers"].append(len(papers))
        columns["citations"].append(int(known.sum()) if len(known) else None)
        columns["collaborators"].append(collaborators(joint, number, names))
    starts = np.array([years[p].min() for p, _ in careers.of_each(count)], dtype=np.int64)
    arrays = {one.name: pa.array(columns[one.name], one.type) for one in schema()}
    return People(pa.table(arrays, schema=schema())), starts


def frequent_places(places: Sequence[str]) -> list[str]:
    """The most frequent affiliations; among equals the latest."""
    counts = Counter(place for place in reversed(places) if place)
    return [place for place, _ in counts.most_common(AFFILIATIONS)]


def collaborators(joint: csr_array, number: int, names: Sequence[str]) -> list[str]:
    """Those with the most joint papers; among equals by name."""
    start, end = joint.indptr[number], joint.indptr[number + 1]
    others = joint.indices[start:end].tolist()
    together = dict(zip(others, joint.data[start:end].tolist(), strict=True))
    ranked = sorted(together, key=lambda other: (-together[other], names[other]))
    return [names[other] for other in ranked[:COLLABORATORS]]


class _Draft:
    def __init__(self, number_of: Numbers, terms: Terms) -> None:
        self._number_of, self._terms = number_of, terms
        self._rows, self._papers = array("q"), array("q")
        self._scientists, self._places = array("q"), array("q")
        self._about: list[tuple[int, ...]] = []
        self._words: dict[str, int] = {}
        self._place_numbers: dict[str, int] = {}

    def add(self, row: int, record: RawRecord, columns: Numbers) -> None:
        """A known paper, whoever wrote it."""
        numbers = self._number_of[columns]
        if not (numbers >= 0).any():
            return
        paper = len(self._rows)
        self._rows.append(row)
        terms = self._terms.of(record)
        self._about.append(tuple(self._words.setdefault(t, len(self._words)) for t in terms))
        for number, author in zip(numbers.tolist(), record.authors, strict=True):
            if number >= 0:
                known = self._place_numbers
                self._papers.append(paper)
                self._scientists.append(number)
                self._places.append(known.setdefault(author.affiliation, len(known)))

    def finished(self, outline: Outline) -> Careers:
        """Everything that was added, in order."""
        rows = np.array(self._rows, dtype=np.int64)
        order = by_year_and_id(outline, rows)
        place_of = np.empty(len(order), dtype=np.int64)
        place_of[order] = np.arange(len(order))
        papers = place_of[np.array(self._papers, dtype=np.int64)]
        scientists = np.array(self._scientists, dtype=np.int64)
        seats = np.lexsort((papers, scientists))
        places, words = list(self._place_numbers), list(self._words)
        return Careers(
            rows=rows[order],
            terms=[self._about[paper] for paper in order.tolist()],
            words=words,
            papers=papers[seats],
            scientists=scientists[seats],
            places=[places[self._places[seat]] for seat in seats.tolist()],
        )


def by_year_and_id(outline: Outline, rows: Numbers) -> Numbers:
    """The order that sorts these rows of an outline by year, then id."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.table(
        {"year": pa.array(outline.years[rows]), "id": outline.ids.take(pa.array(rows))}
    )
    order = pc.sort_indices(table, [("year", "ascending"), ("id", "ascending")])
    return np.asarray(order, dtype=np.int64)
