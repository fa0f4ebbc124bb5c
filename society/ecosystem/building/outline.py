"""The first pass over a source, which makes an outline without words, in arrays.

It has years, authors, citation links and counts. Papers and people are selected on it, so that the
words of a paper which is dropped are never held. Ids are stored as 64-bit hashes where only
equality is needed: of ten million ids, two share one with a probability of three in a million.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from virsci_society.agents.arrays import BoolArray, IntArray
from virsci_society.agents.lazy_imports import pa, sparse
from virsci_society.society.ecosystem.importers.records import RawRecord, hash_id

if TYPE_CHECKING:
    # By name: from Python 3.15 on a dataclass looks up ``pa.Array``, which would import pyarrow.
    from pyarrow import Array
    from scipy.sparse import csr_array

UNKNOWN = -1
PROGRESS_EVERY = 1000
"""Records between two calls of a progress."""


@dataclass(frozen=True, eq=False)
class Outline:
    """One row per record, in the source's order; people and references of known papers only.

    Known papers are those of years before the boundary. A count of -1 stands for unknown.

    Attributes:
        boundary: the year in which the society starts.
        ids: the source's ids.
        years: calendar years.
        abstracts: which have an abstract.
        keywords: which have keywords.
        collected_citations: citations at collection time.
        later_citations: of these, those of the boundary year and after, by the source's counts
            per year.
        first_counted: first year for which the known papers have such counts; None without.
        people: sparse matrix of records by people, nonzero where a known paper has an author; the
            authors of a row stand in author order.
        person_hashes: hash of the source id of the person of each column, ascending.
        links: (citing, cited) rows of known papers, each pair once, no paper itself.
        has_references: whether a known paper names a reference, inside the source or not.
    """

    boundary: int
    ids: Array
    years: IntArray
    abstracts: BoolArray
    keywords: BoolArray
    collected_citations: IntArray
    later_citations: IntArray
    first_counted: int | None
    people: csr_array
    person_hashes: npt.NDArray[np.uint64]
    links: tuple[IntArray, IntArray]
    has_references: bool

    @classmethod
    def read(
        cls,
        records: Iterable[RawRecord],
        boundary: int,
        progress: Callable[[int], None] | None = None,
    ) -> Outline:
        """Read a source once and make its outline."""
        draft = _OutlineBuilder(boundary)
        for number, record in enumerate(records, start=1):
            draft.add(record)
            if progress and number % PROGRESS_EVERY == 0:
                progress(number)
        return draft.finished()

    def __len__(self) -> int:
        return len(self.years)

    @cached_property
    def known(self) -> BoolArray:
        """Which papers are of years before the boundary."""
        return self.years < self.boundary

    @cached_property
    def citations_received(self) -> IntArray:
        """Citations by known papers that each paper received, by row."""
        return np.bincount(self.links[1], minlength=len(self)).astype(np.int64)

    @property
    def year_range(self) -> tuple[int, int]:
        """First and last year; there must be a record."""
        return int(self.years.min()), int(self.years.max())

    def columns_of(self, ids: Iterable[str]) -> IntArray:
        """The columns of people by their source ids, ascending; unknown ids are ignored."""
        wanted = np.unique(np.fromiter(map(hash_id, ids), dtype=np.uint64))
        columns: IntArray = np.flatnonzero(np.isin(self.person_hashes, wanted))
        return columns

    def author_columns(self, row: int) -> IntArray:
        """The authors of a known paper, as columns of ``people``, in author order."""
        starts = self.people.indptr
        columns: IntArray = self.people.indices[starts[row] : starts[row + 1]]
        return columns


class _OutlineBuilder:
    """Collects records in growing arrays and makes an outline of them."""

    def __init__(self, boundary: int) -> None:
        self._boundary = boundary
        self._first_counted: int | None = None
        self._ids: list[str] = []
        self._id_chunks: list[pa.Array] = []
        self._keys, self._seats, self._references = array("Q"), array("Q"), array("Q")
        self._years, self._team_sizes, self._cited = array("i"), array("i"), array("i")
        self._collected, self._later = array("q"), array("q")
        self._abstracts, self._keywords = array("b"), array("b")

    def add(self, record: RawRecord) -> None:
        """Add one record."""
        known = record.year < self._boundary
        self._ids.append(record.id)
        # As Arrow text, since Python strings take several times the memory.
        if len(self._ids) == 1 << 16:
            self._pack()
        self._keys.append(hash_id(record.id))
        self._years.append(record.year)
        self._abstracts.append(bool(record.abstract))
        self._keywords.append(bool(record.keywords))
        self._collected.append(UNKNOWN if record.citations is None else record.citations)
        self._later.append(self._counted_later(record) if known else 0)
        self._seats.extend(hash_id(author.id) for author in record.authors if known)
        self._team_sizes.append(len(record.authors) if known else 0)
        cited = dict.fromkeys(record.references) if known else {}
        cited.pop(record.id, None)
        self._references.extend(map(hash_id, cited))
        self._cited.append(len(cited))

    def finished(self) -> Outline:
        """The outline of everything that was added."""
        self._pack()
        people, person_hashes = _incidence(self._seats, self._team_sizes)
        ids = pa.chunked_array(self._id_chunks, pa.large_string()).combine_chunks()
        return Outline(
            boundary=self._boundary,
            ids=ids,
            years=np.array(self._years, dtype=np.int64),
            abstracts=np.array(self._abstracts, dtype=bool),
            keywords=np.array(self._keywords, dtype=bool),
            collected_citations=np.array(self._collected, dtype=np.int64),
            later_citations=np.array(self._later, dtype=np.int64),
            first_counted=self._first_counted,
            people=people,
            person_hashes=person_hashes,
            links=self._links(),
            has_references=bool(len(self._references)),
        )

    def _pack(self) -> None:
        self._id_chunks.append(pa.array(self._ids, pa.large_string()))
        self._ids = []

    def _counted_later(self, record: RawRecord) -> int:
        counts = record.citations_by_year
        for year, _ in counts:
            self._first_counted = min(year, self._first_counted or year)
        return sum(count for year, count in counts if year >= self._boundary)

    def _links(self) -> tuple[IntArray, IntArray]:
        keys = np.array(self._keys, dtype=np.uint64)
        known = np.flatnonzero(np.array(self._years, dtype=np.int64) < self._boundary)
        order = known[np.argsort(keys[known], kind="stable")]
        asked = np.array(self._references, dtype=np.uint64)
        places = np.searchsorted(keys[order], asked)
        # An id above all known ones is compared with the first of them, which it cannot equal.
        places[places == len(order)] = 0
        inside = keys[order][places] == asked if len(order) else np.zeros(len(asked), dtype=bool)
        citing = np.repeat(np.arange(len(keys)), np.array(self._cited, dtype=np.int64))
        return citing[inside], order[places[inside]]


def _incidence(
    seats: array[int], sizes: array[int]
) -> tuple[sparse.csr_array, npt.NDArray[np.uint64]]:
    keys, columns = np.unique(np.array(seats, dtype=np.uint64), return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(np.array(sizes, dtype=np.int64))])
    ones = np.ones(len(columns), dtype=np.int32)
    shape = (len(sizes), len(keys))
    people = sparse.csr_array(
        (ones, columns.astype(np.int64), starts.astype(np.int64)), shape=shape
    )
    return people, keys
