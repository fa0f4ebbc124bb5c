"""One paper, and the papers of a literature in columns, with the citations among them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.lazy_imports import pa, pc
from virsci_society.society.literature.columns import ArrowSequence, IdColumn, one_chunk

DAYS_PER_YEAR = 365.0


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper with its date in days since 1 January of the boundary year.

    Citations of a past paper are those at the boundary, or at collection (the manifest says).
    """

    id: str
    title: str
    abstract: str
    date: float
    year: int
    authors: tuple[str, ...]
    references: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    venue: str = ""
    citations: int | None = None


class Papers(ArrowSequence[Paper]):
    """A sequence of papers over an Arrow table with one column per field of ``Paper``."""

    row_type = Paper

    @staticmethod
    def schema() -> pa.Schema:
        """The columns and their types; only ``citations`` may be null."""
        # Large strings, so that two gigabytes of abstracts may be one chunk.
        texts = pa.large_list(pa.large_string())
        return pa.schema(
            [
                ("id", pa.large_string()),
                ("title", pa.large_string()),
                ("abstract", pa.large_string()),
                ("date", pa.float64()),
                ("year", pa.int64()),
                ("authors", texts),
                ("references", texts),
                ("keywords", texts),
                ("venue", pa.large_string()),
                ("citations", pa.int64()),
            ]
        )

    @cached_property
    def dates(self) -> FloatArray:
        """Publication dates in days, one per paper."""
        return np.asarray(self.table["date"].to_numpy(), dtype=np.float64)

    @cached_property
    def years(self) -> IntArray:
        """Calendar years, one per paper."""
        return np.asarray(self.table["year"].to_numpy(), dtype=np.int64)

    @cached_property
    def citations(self) -> FloatArray:
        """Citation counts (see ``Paper``), one per paper; nan where unknown."""
        return np.asarray(self.table["citations"].to_numpy(), dtype=np.float64)

    @cached_property
    def team_sizes(self) -> IntArray:
        """Numbers of authors, one per paper."""
        return self._lengths("authors")

    def row_of(self, paper_id: str) -> int | None:
        """The row of a paper; None if the id is unknown."""
        return self.ids.row_of(paper_id)

    def rows_of(self, paper_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> IntArray:
        """Look up the rows of many papers at once; -1 for unknown ids."""
        if not isinstance(paper_ids, pa.Array | pa.ChunkedArray):
            paper_ids = pa.array(list(paper_ids), pa.large_string())
        rows = pc.fill_null(pc.index_in(paper_ids, value_set=one_chunk(self.table["id"])), -1)
        return np.asarray(rows.to_numpy(), dtype=np.int64)

    def cited_by(self, row: int) -> IntArray:
        """The rows of the papers that cite the paper of a row, ascending."""
        starts, citing = self._cited_by
        return citing[starts[row] : starts[row + 1]]

    def written_by(self, author: str) -> IntArray:
        """The rows of the papers that name an author (id), ascending; none for an unknown one."""
        names, starts, rows = self._by_author
        number = names.row_of(author)
        if number is None:
            return np.zeros(0, dtype=np.int64)
        # Unique, because a source may name an author of a paper twice.
        return np.unique(rows[starts[number] : starts[number + 1]])

    @cached_property
    def _by_author(self) -> tuple[IdColumn, IntArray, IntArray]:
        """Ids of all authors, where the papers of each begin, and the rows of these papers."""
        named = one_chunk(pc.list_flatten(self.table["authors"])).dictionary_encode()
        numbers = np.asarray(named.indices, dtype=np.int64)
        rows = np.repeat(np.arange(len(self), dtype=np.int64), self._lengths("authors"))
        # Stable: the rows of each author stay ascending.
        order = np.argsort(numbers, kind="stable")
        names = IdColumn(pa.chunked_array([named.dictionary]))
        return names, _starts(numbers[order], len(names)), rows[order]

    @cached_property
    def cites(self) -> tuple[IntArray, IntArray]:
        """Where the cited papers of each row begin (n + 1 numbers), and their rows, ascending."""
        count = len(self)
        cited = self.rows_of(pc.list_flatten(self.table["references"]))
        citing = np.repeat(np.arange(count, dtype=np.int64), self._lengths("references"))
        valid = (cited >= 0) & (cited != citing)
        pairs = np.sort(citing[valid] * count + cited[valid])
        # A sort and a look at the neighbours: ten times as fast as finding unique numbers.
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        return _starts(pairs // max(1, count), count), pairs % max(1, count)

    @cached_property
    def _cited_by(self) -> tuple[IntArray, IntArray]:
        starts, cited = self.cites
        citing = np.repeat(np.arange(len(self), dtype=np.int64), np.diff(starts))
        # Stable: citing rows ascend, so that the dates of citations are sorted.
        order = np.argsort(cited, kind="stable")
        return _starts(cited[order], len(self)), citing[order]

    def _lengths(self, name: str) -> IntArray:
        return np.asarray(pc.list_value_length(self.table[name]).to_numpy(), dtype=np.int64)


def _starts(rows: IntArray, count: int) -> IntArray:
    """Where each row begins in an ascending list of row numbers; ``count`` + 1 numbers."""
    return np.searchsorted(rows, np.arange(count + 1)).astype(np.int64)
