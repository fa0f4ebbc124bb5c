"""Columns of Arrow as sequences, with ids that are looked up in both directions.

A row object is made when it is asked for, so that a million papers are held as columns.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from virsci_society.agents.lazy_imports import pa, pc

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
    def ids(self) -> Ids:
        """The ids of the rows; not to be changed."""
        return Ids(self.table["id"].to_pylist())

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


class Ids:
    """Ids of rows, looked up in both directions; later ones may be appended, each once."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._ids: list[str] = list(ids)
        self.rows: dict[str, int] = {}
        for row, key in enumerate(self._ids):
            self.rows.setdefault(key, row)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, key: object) -> bool:
        return key in self.rows

    def __getitem__(self, row: int) -> str:
        return self._ids[row]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def row_of(self, key: str) -> int | None:
        """Look up the row of an id, the first where it stands twice; None where there is none."""
        return self.rows.get(key)

    def append(self, key: str) -> None:
        """Name the next row. The caller has made sure that the id is new."""
        self.rows[key] = len(self._ids)
        self._ids.append(key)

    def repeated(self) -> str | None:
        """An id that occurs more than once, or None."""
        if len(self.rows) == len(self._ids):
            return None
        return next(key for row, key in enumerate(self._ids) if self.rows[key] != row)


def one_chunk(column: pa.ChunkedArray) -> Any:
    """A column in one piece, where its text fits into one; Arrow's arrays have no types here."""
    whole = column.combine_chunks()
    # The result of Arrow is still chunked where the text does not fit into one chunk.
    return whole.chunk(0) if getattr(whole, "num_chunks", 0) == 1 else whole
