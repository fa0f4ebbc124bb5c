"""Outline: a source without its words, in arrays: years, authors, who cites whom, counts.

The first pass over a source. Who and what is kept is decided on this, so that the words of a
paper which is dropped are never held. Ids are held as 64-bit digests where only equality is
asked for: of ten million ids, two share one with a chance of three in a million.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from society.ecosystem.records import RawRecord

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy.sparse import csr_array

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

UNKNOWN = -1
EVERY = 1000


def digest(text: str) -> int:
    """64 bits that stand for an id; the same in every process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


@dataclass(frozen=True, eq=False)
class Outline:
    """One row per record, in the source's order; people and references of the known ones only.

    Known are the papers of years before the boundary. A count of -1 stands for unknown.

    Attributes:
        boundary: the year in which the society starts.
        ids: the source's ids.
        years: calendar years.
        abstracts: which have an abstract.
        keywords: which have keywords.
        collected: citations at collection time.
        later: of these, those of the boundary year and after, by the source's counts per year.
        first_counted: first year for which the known papers have such counts; None without.
        people: of each known paper, its authors as columns that are not zero.
        keys: digest of the source id of the person of each column, ascending.
        links: (citing, cited) rows of known papers, each pair once, no paper itself.
        referring: whether a known paper names a reference, inside the source or not.
    """

    boundary: int
    ids: pa.Array
    years: Numbers
    abstracts: Mask
    keywords: Mask
    collected: Numbers
    later: Numbers
    first_counted: int | None
    people: csr_array
    keys: npt.NDArray[np.uint64]
    links: tuple[Numbers, Numbers]
    referring: bool

    @classmethod
    def of(
        cls,
        records: Iterable[RawRecord],
        boundary: int,
        progress: Callable[[int], None] | None = None,
    ) -> Outline:
        """Read a source once; ``progress`` hears now and then how many records were read."""
        draft = _Draft(boundary)
        for number, record in enumerate(records, start=1):
            draft.add(record)
            if progress and number % EVERY == 0:
                progress(number)
        return draft.finished()

    def __len__(self) -> int:
        return len(self.years)

    @cached_property
    def known(self) -> Mask:
        """Which papers are of years before the boundary."""
        return self.years < self.boundary

    @cached_property
    def received(self) -> Numbers:
        """Citations that known papers gave, by row."""
        return np.bincount(self.links[1], minlength=len(self)).astype(np.int64)

    @property
    def span(self) -> tuple[int, int]:
        """First and last year; the source has a record."""
        return int(self.years.min()), int(self.years.max())

    def columns_of(self, ids: Iterable[str]) -> Numbers:
        """The columns of people by their source ids, ascending; strangers are passed over."""
        wanted = np.unique(np.fromiter(map(digest, ids), dtype=np.uint64))
        found: Numbers = np.flatnonzero(np.isin(self.keys, wanted))
        return found

    def seats(self, row: int) -> Numbers:
        """The authors of a known paper, as columns of ``people``, in author order."""
        starts = self.people.indptr
        found: Numbers = self.people.indices[starts[row] : starts[row + 1]]
        return found


class _Draft:
    """Arrays that grow; what they become is an outline."""

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
        """One more record."""
        known = record.year < self._boundary
        self._ids.append(record.id)
        if len(self._ids) == 1 << 16:
            self._pack()
        self._keys.append(digest(record.id))
        self._years.append(record.year)
        self._abstracts.append(bool(record.abstract))
        self._keywords.append(bool(record.keywords))
        self._collected.append(UNKNOWN if record.citations is None else record.citations)
        self._later.append(self._counted_later(record) if known else 0)
        self._seats.extend(digest(author.id) for author in record.authors if known)
        self._team_sizes.append(len(record.authors) if known else 0)
        cited = dict.fromkeys(record.references) if known else {}
        cited.pop(record.id, None)
        self._references.extend(map(digest, cited))
        self._cited.append(len(cited))

    def finished(self) -> Outline:
        """The outline of everything that was added."""
        import pyarrow as pa

        self._pack()
        people, keys = _incidence(self._seats, self._team_sizes)
        ids = pa.chunked_array(self._id_chunks, pa.large_string()).combine_chunks()
        return Outline(
            boundary=self._boundary,
            ids=ids,
            years=np.array(self._years, dtype=np.int64),
            abstracts=np.array(self._abstracts, dtype=bool),
            keywords=np.array(self._keywords, dtype=bool),
            collected=np.array(self._collected, dtype=np.int64),
            later=np.array(self._later, dtype=np.int64),
            first_counted=self._first_counted,
            people=people,
            keys=keys,
            links=self._links(),
            referring=bool(len(self._references)),
        )

    def _pack(self) -> None:
        import pyarrow as pa

        self._id_chunks.append(pa.array(self._ids, pa.large_string()))
        self._ids = []

    def _counted_later(self, record: RawRecord) -> int:
        counts = record.citations_by_year
        for year, _ in counts:
            self._first_counted = min(year, self._first_counted or year)
        return sum(count for year, count in counts if year >= self._boundary)

    def _links(self) -> tuple[Numbers, Numbers]:
        keys = np.array(self._keys, dtype=np.uint64)
        known = np.flatnonzero(np.array(self._years, dtype=np.int64) < self._boundary)
        order = known[np.argsort(keys[known], kind="stable")]
        asked = np.array(self._references, dtype=np.uint64)
        places = np.searchsorted(keys[order], asked)
        places[places == len(order)] = 0
        inside = keys[order][places] == asked if len(order) else np.zeros(len(asked), dtype=bool)
        citing = np.repeat(np.arange(len(keys)), np.array(self._cited, dtype=np.int64))
        return citing[inside], order[places[inside]]


def _incidence(seats: array[int], sizes: array[int]) -> tuple[csr_array, npt.NDArray[np.uint64]]:
    from scipy.sparse import csr_array

    keys, columns = np.unique(np.array(seats, dtype=np.uint64), return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(np.array(sizes, dtype=np.int64))])
    ones = np.ones(len(columns), dtype=np.int32)
    shape = (len(sizes), len(keys))
    people = csr_array((ones, columns.astype(np.int64), starts.astype(np.int64)), shape=shape)
    return people, keys
