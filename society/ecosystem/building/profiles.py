"""The third pass over a source, which reads the scientists' papers and makes their profiles.

The pass reads topics and affiliations. Papers that the filters left out count here, too. Nothing
from the boundary year on is read. The terms of a paper are its keywords or, where it has none,
those of its own text with the highest TF-IDF weight in an LSA that is fitted on the kept past
papers. Keywords that other papers use are preferred: they read better than other terms.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.lazy_imports import pa, pc, sparse
from virsci_society.society.ecosystem.building.kept_papers import reread_records
from virsci_society.society.ecosystem.building.outline import Outline
from virsci_society.society.ecosystem.ecosystem import require_past
from virsci_society.society.ecosystem.importers.records import RawRecord
from virsci_society.society.ecosystem.people import MASK, People, numbered_names
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.literature.embedding.lsa import DIMENSIONS, LSAEmbedding
from virsci_society.society.literature.papers import Papers

TERMS_PER_PAPER = 4
"""Most terms of a paper without keywords."""


class TermExtractor:
    """Extracts the terms of records.

    Args:
        lsa: weighs the terms of a text; fitted on past papers only.
        used: keywords of papers before the boundary, in lower case.
    """

    def __init__(self, lsa: LSAEmbedding, used: Container[str] = frozenset()) -> None:
        self._lsa, self._used = lsa, used

    def extract(self, record: RawRecord) -> tuple[str, ...]:
        """The terms of a record in lower case, the best first, each once."""
        if record.keywords:
            return tuple(dict.fromkeys(keyword.lower() for keyword in record.keywords))
        text = paper_text(record.title, record.abstract)
        return self._lsa.keywords(text, TERMS_PER_PAPER, self._used)


MOST_DIMENSIONS = 4096


def paper_texts(papers: Papers) -> list[str]:
    """The text by which each paper is embedded."""
    columns = papers.table["title"].to_pylist(), papers.table["abstract"].to_pylist()
    pairs = zip(*columns, strict=True)
    return [paper_text(title, abstract) for title, abstract in pairs]


def fit_lsa(texts: Sequence[str], seed: int, name: str) -> tuple[LSAEmbedding, list[str]]:
    """Fit an LSA on the texts of past papers; without texts or words it knows no word.

    The name of the embedding may give its length (``lsa:64``). Returns notes for the manifest, too.
    """
    nothing = LSAEmbedding([], np.zeros(0), np.zeros((0, 1), dtype=np.float32))
    if not texts:
        return nothing, []
    length = lsa_dimensions(name)
    try:
        return LSAEmbedding.fit(texts, seed=seed, dim=length), []
    except InputError:
        told = f"the {len(texts):,} past papers have no words to fit an embedding on"
        return nothing, [f"{told}: every vector is zero and searches find nothing near"]


def lsa_dimensions(name: str) -> int:
    """The vector length that an embedding's name asks for; the default for other kinds than LSA."""
    kind, _, length = name.partition(":")
    if kind != "lsa" or not length:
        return DIMENSIONS
    if not length.isdecimal() or not 1 <= int(length) <= MOST_DIMENSIONS:
        raise InputError(f"embedding {name}: expected a length, such as lsa:64")
    return int(length)


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
        affiliations: affiliation of each seat, as a number into ``places``.
        places: the affiliations; one is empty where some seat has none.
    """

    rows: IntArray
    terms: Sequence[tuple[int, ...]]
    words: Sequence[str]
    papers: IntArray
    scientists: IntArray
    affiliations: IntArray
    places: Sequence[str]


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
    require_past(outline.years[author_papers.rows], outline.boundary, "profiles and interests")
    count = joint.shape[0]
    names = numbered_names(MASK, count)
    papers, scientists = author_papers.papers, author_papers.scientists
    counts = citations[author_papers.rows][papers]
    known = counts >= 0
    dated = np.bincount(scientists[known], minlength=count) > 0
    cited = np.bincount(scientists[known], counts[known], count).astype(np.int64)
    columns = {
        "id": names,
        "affiliations": _affiliations(author_papers, count),
        "interests": _interests(author_papers, count),
        "papers": np.bincount(scientists, minlength=count),
        "citations": pa.array(cited, mask=~dated),
        "collaborators": collaborator_lists(joint, names),
    }
    first = papers[np.searchsorted(scientists, np.arange(count))]
    starts: IntArray = outline.years[author_papers.rows][first]
    return People(pa.table(columns, schema=People.schema())), starts


def _affiliations(author_papers: AuthorPapers, count: int) -> pa.Array:
    """The most frequent affiliations of each scientist; among equals the latest."""
    places = pa.array(author_papers.places, pa.large_string())
    stated = np.array([bool(place) for place in author_papers.places], dtype=bool)
    # Backwards: among equals the one counts that is met first.
    seats = np.flatnonzero(stated[author_papers.affiliations])[::-1]
    owners, items = author_papers.scientists[seats], author_papers.affiliations[seats]
    return frequent_items(owners, items, places, count, AFFILIATIONS)


def _interests(author_papers: AuthorPapers, count: int) -> pa.Array:
    """The most frequent terms of each scientist's papers; among equals the one that came first."""
    terms = [author_papers.terms[paper] for paper in author_papers.papers.tolist()]
    owners = np.repeat(author_papers.scientists, np.fromiter(map(len, terms), np.int64))
    words = pa.array(author_papers.words, pa.large_string())
    items = np.fromiter(chain.from_iterable(terms), np.int64)
    return frequent_items(owners, items, words, count, INTERESTS)


def frequent_items(
    owners: IntArray, items: IntArray, words: pa.Array, size: int, most: int = INTERESTS
) -> pa.Array:
    """The most frequent items of each owner as lists of words; among equals the first to come.

    Args:
        owners: numbers below ``size``.
        items: what each has, as numbers into ``words``.
        words: what the items are called.
        size: number of owners, with items or without.
        most: length of the longest list.
    """
    keys = owners * len(words) + items
    kinds, places, counts = np.unique(keys, return_index=True, return_counts=True)
    people = kinds // max(1, len(words))
    order = np.lexsort((places, -counts, people))
    return _capped(people[order], (kinds % max(1, len(words)))[order], words, size, most)


def collaborator_lists(joint: sparse.csr_array, names: pa.Array) -> pa.Array:
    """The names of the people with the most joint papers, for each person; among equals by name."""
    size = joint.shape[0]
    people = np.repeat(np.arange(size), np.diff(joint.indptr))
    by_name = np.empty(size, dtype=np.int64)
    by_name[pc.sort_indices(names).to_numpy()] = np.arange(size)
    order = np.lexsort((by_name[joint.indices], -joint.data, people))
    return _capped(people, joint.indices[order], names, size, COLLABORATORS)


def _capped(owners: IntArray, items: IntArray, words: pa.Array, size: int, most: int) -> pa.Array:
    """The first ``most`` items of each owner, as lists of words; owners are ascending."""
    starts = np.searchsorted(owners, np.arange(size + 1))
    kept = np.arange(len(owners)) - starts[owners] < most
    offsets = np.concatenate([[0], np.cumsum(np.minimum(np.diff(starts), most))])
    return pa.LargeListArray.from_arrays(pa.array(offsets), words.take(pa.array(items[kept])))


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
        return AuthorPapers(
            rows=rows[order],
            terms=[self._about[paper] for paper in order.tolist()],
            words=list(self._words),
            papers=papers[seats],
            scientists=scientists[seats],
            affiliations=np.array(self._places, dtype=np.int64)[seats],
            places=list(self._place_numbers),
        )


def year_id_order(outline: Outline, rows: IntArray) -> IntArray:
    """The order that sorts rows of an outline by year, then id."""
    table = pa.table(
        {"year": pa.array(outline.years[rows]), "id": outline.ids.take(pa.array(rows))}
    )
    order = pc.sort_indices(table, [("year", "ascending"), ("id", "ascending")])
    return np.asarray(order, dtype=np.int64)
