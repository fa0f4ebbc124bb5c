"""A sequence of rows in an Arrow table, and the papers of a literature as such a sequence.

A row object is made when it is asked for, so that a million papers are held as columns.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.lazy_imports import pa, pc
from virsci_society.society.literature.index.ids import IdColumn

Row = TypeVar("Row")
BATCH_ROWS = 4096
"""Rows that an iteration turns into objects at a time."""
SHOWN = 100
"""Rows that ``repr`` prints."""


class ArrowSequence(Sequence[Row]):
    """A sequence of rows over an Arrow table with one column per field of a dataclass.

    Args:
        table: the columns of ``schema()``, in any number of chunks and in any order.
    """

    row_type: ClassVar[type]
    """The dataclass that a row is made into; its lists are tuples there."""

    def __init__(self, table: pa.Table) -> None:
        names = self.schema().names
        self.table = table if table.column_names == names else table.select(names)
        self._lists = tuple(one.name for one in self.schema() if _is_list(one.type))

    @staticmethod
    @abstractmethod
    def schema() -> pa.Schema:
        """The columns of the table and their types, in order."""

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Self:
        """Put rows into columns; a sequence of this class is returned as it is."""
        if isinstance(rows, cls):
            return rows
        rows_list, schema = list(rows), cls.schema()
        columns = [
            pa.array([getattr(row, one.name) for row in rows_list], one.type) for one in schema
        ]
        return cls(pa.table(columns, schema=schema))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @overload
    def __getitem__(self, row: int) -> Row: ...

    @overload
    def __getitem__(self, row: slice) -> Self: ...

    def __getitem__(self, row: int | slice) -> Row | Self:
        if isinstance(row, slice):
            rows = range(len(self))[row]
            if rows.step == 1:
                return type(self)(self.table.slice(rows.start, len(rows)))
            return type(self)(self.table.take(np.array(rows, dtype=np.int64)))
        index = range(len(self))[row]
        columns = zip(self.table.column_names, self.table.itercolumns(), strict=True)
        return self._make_row({name: column[index].as_py() for name, column in columns})

    def __iter__(self) -> Iterator[Row]:
        for batch in self.table.to_batches(max_chunksize=BATCH_ROWS):
            yield from map(self._make_row, batch.to_pylist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, type(self)):
            return bool(self.table.equals(other.table))
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:SHOWN]))
        more = f", ... {len(self) - SHOWN:,} more" if len(self) > SHOWN else ""
        return f"{type(self).__name__}([{shown}{more}])"

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        # What was computed from the table need not be copied with it.
        return type(self), (self.table,)

    @cached_property
    def ids(self) -> IdColumn:
        """The ids of the rows, as a column that is searched without a copy."""
        return IdColumn(self.table["id"])

    def digest(self) -> bytes:
        """SHA-256 of every value, however the columns are cut into chunks."""
        hasher = hashlib.sha256()
        for name in self.table.column_names:
            column = self.table[name]
            hasher.update(f"{name} {column.type} {len(column)}\n".encode())
            hasher.update(_values_hash(column.chunks))
        return hasher.digest()

    def _make_row(self, row: dict[str, Any]) -> Row:
        made: Row = self.row_type(**row | {name: tuple(row[name]) for name in self._lists})
        return made


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_large_list(kind))


def _values_hash(chunks: Sequence[Any]) -> bytes:
    """Hash the values of arrays of one type, as if they were one array."""
    sizes, values = hashlib.sha256(), hashlib.sha256()
    for chunk in chunks:
        if _is_list(chunk.type):
            sizes.update(_bytes(pc.list_value_length(chunk)))
        elif pa.types.is_large_string(chunk.type):
            sizes.update(_bytes(pc.binary_length(chunk)))
            values.update(_text(chunk))
        else:
            sizes.update(_bytes(pc.is_valid(chunk)))
            values.update(_bytes(pc.fill_null(chunk, 0)))
    if chunks and _is_list(chunks[0].type):
        values.update(_values_hash([pc.list_flatten(chunk) for chunk in chunks]))
    return sizes.digest() + values.digest()


def _bytes(numbers: pa.Array) -> bytes:
    plain: npt.NDArray[Any] = numbers.to_numpy(zero_copy_only=False)
    return plain.astype(plain.dtype.newbyteorder("<"), copy=False).tobytes()


def _text(strings: pa.Array) -> memoryview:
    """The bytes of all strings one after another, without a copy."""
    _, offsets, data = strings.buffers()
    if data is None or not len(strings):
        return memoryview(b"")
    ends = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    return memoryview(data)[int(ends[0]) : int(ends[-1])]


DAYS_PER_YEAR = 365.0


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper with its simulated date.

    Attributes:
        id: unique; the society's own papers have the id of their team.
        title: never empty.
        abstract: may be empty in an ecosystem, never in a society's paper.
        date: publication date in days since 1 January of the boundary year; past papers have
            negative dates (1 January of their year), the society's own positive ones.
        year: calendar year.
        authors: scientist ids in author order (people outside the population included).
        references: ids of cited papers.
        keywords: possibly none.
        venue: possibly empty.
        citations: citation count; of a past paper at the boundary where the source can tell (the
            manifest says so), else at collection time; None where the source knows none.
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
    """A sequence of papers over an Arrow table with one column per field of ``Paper``.

    Large strings, so that two gigabytes of abstracts may be one chunk.
    """

    row_type = Paper

    @staticmethod
    def schema() -> pa.Schema:
        """The columns and their types; only ``citations`` may be null."""
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
        """The row of a paper; None where there is no such id."""
        return self.ids.row_of(paper_id)

    def rows_of(self, paper_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> IntArray:
        """Look up the rows of many papers at once; -1 where there is no such paper."""
        if not isinstance(paper_ids, pa.Array | pa.ChunkedArray):
            paper_ids = pa.array(list(paper_ids), pa.large_string())
        rows = pc.fill_null(pc.index_in(paper_ids, value_set=_whole(self.table["id"])), -1)
        return np.asarray(rows.to_numpy(), dtype=np.int64)

    def cited_by(self, row: int) -> IntArray:
        """The rows of the papers that cite the paper of a row, ascending."""
        starts, citing = self._cited_by
        citing_rows: IntArray = citing[starts[row] : starts[row + 1]]
        return citing_rows

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
        named = _whole(pc.list_flatten(self.table["authors"])).dictionary_encode()
        numbers = np.asarray(named.indices, dtype=np.int64)
        rows = np.repeat(np.arange(len(self), dtype=np.int64), self._lengths("authors"))
        order = np.argsort(numbers, kind="stable")
        names = IdColumn(pa.chunked_array([named.dictionary]))
        return names, _starts(numbers[order], len(names)), rows[order]

    @cached_property
    def cites(self) -> tuple[IntArray, IntArray]:
        """The citations among these papers, as a sparse matrix without values (CSR).

        Where the cited papers of each row begin (n + 1 numbers), and the rows of the cited papers,
        ascending within each citing paper: each at most once, and never the paper itself.
        """
        count = len(self)
        cited = self.rows_of(pc.list_flatten(self.table["references"]))
        citing = np.repeat(np.arange(count, dtype=np.int64), self._lengths("references"))
        known = (cited >= 0) & (cited != citing)
        pairs = np.sort(citing[known] * count + cited[known])
        # A sort and a look at the neighbours: ten times as fast as finding unique numbers.
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        return _starts(pairs // max(1, count), count), pairs % max(1, count)

    @cached_property
    def _cited_by(self) -> tuple[IntArray, IntArray]:
        starts, cited = self.cites
        citing = np.repeat(np.arange(len(self), dtype=np.int64), np.diff(starts))
        order = np.argsort(cited, kind="stable")
        return _starts(cited[order], len(self)), citing[order]

    def _lengths(self, name: str) -> IntArray:
        return np.asarray(pc.list_value_length(self.table[name]).to_numpy(), dtype=np.int64)


def _starts(rows: IntArray, count: int) -> IntArray:
    """Where each row begins in an ascending list of row numbers; ``count`` + 1 numbers."""
    return np.searchsorted(rows, np.arange(count + 1)).astype(np.int64)


def _whole(column: pa.ChunkedArray) -> Any:
    whole = column.combine_chunks()
    return whole.chunk(0) if getattr(whole, "num_chunks", 0) == 1 else whole
