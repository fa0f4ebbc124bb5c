"""Columns of Arrow as sequences, with ids that are looked up in both directions."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.lazy_imports import pa, pc

Row = TypeVar("Row")
BATCH_ROWS = 4096
"""Rows that an iteration turns into objects at a time."""
Find = Callable[[str], "int | None"]
FEW = 10_000
"""Ids of a column that are kept as Python strings and in a dictionary as well: they are read by the
hundred thousand in a run, and from Arrow that takes ten times as long."""


class ArrowSequence(Sequence[Row]):
    """A sequence of rows over an Arrow table with one column per field of a dataclass."""

    row_type: ClassVar[type]
    """The dataclass that a row is made into; its lists are tuples there."""

    def __init__(self, table: pa.Table) -> None:
        names = self.schema().names
        self.table = table if table.column_names == names else table.select(names)
        self._lists = tuple(column.name for column in self.schema() if _is_list(column.type))

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
            pa.array([getattr(row, field.name) for row in rows_list], field.type)
            for field in schema
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

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        # What was computed from the table need not be copied with it.
        return type(self), (self.table,)

    @cached_property
    def row(self) -> Callable[[int], Row]:
        """Reads a row: few are all made at once, of more the last ``FEW`` are kept."""
        return tuple(self).__getitem__ if len(self) <= FEW else lru_cache(FEW)(self.__getitem__)

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

    def numbers(values: pa.Array) -> bytes:
        plain: npt.NDArray[Any] = values.to_numpy(zero_copy_only=False)
        return plain.astype(plain.dtype.newbyteorder("<"), copy=False).tobytes()

    sizes, values = hashlib.sha256(), hashlib.sha256()
    for chunk in chunks:
        if _is_list(chunk.type):
            sizes.update(numbers(pc.list_value_length(chunk)))
        elif pa.types.is_large_string(chunk.type):
            sizes.update(numbers(pc.binary_length(chunk)))
            values.update(_text(chunk))
        else:
            sizes.update(numbers(pc.is_valid(chunk)))
            values.update(numbers(pc.fill_null(chunk, 0)))
    if chunks and _is_list(chunks[0].type):
        values.update(_values_hash([pc.list_flatten(chunk) for chunk in chunks]))
    return sizes.digest() + values.digest()


def _text(strings: pa.Array) -> memoryview:
    """The concatenated bytes of all strings, without a copy."""
    _, offsets, data = strings.buffers()
    if data is None or not len(strings):
        return memoryview(b"")
    ends = np.frombuffer(offsets, np.int64)[strings.offset : strings.offset + len(strings) + 1]
    return memoryview(data)[int(ends[0]) : int(ends[-1])]


class IdColumn:
    """Ids in an Arrow column of text; Python strings are made on demand if there are many."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self._column = one_chunk(column)

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, row: int) -> str:
        if self._texts is not None:
            return self._texts[row]
        return str(self._column[row].as_py())

    @cached_property
    def _texts(self) -> list[str] | None:
        """All ids, where they are few."""
        return self._column.to_pylist() if len(self) <= FEW else None

    @cached_property
    def _rows(self) -> dict[str, int] | None:
        """The row of each id, if they are few; the first row of a duplicate."""
        texts = self._texts
        if texts is None:
            return None
        return {texts[row]: row for row in reversed(range(len(texts)))}

    @cached_property
    def order(self) -> IntArray:
        """Row numbers in ascending order of their ids."""
        return np.asarray(pc.sort_indices(self._column), dtype=np.int64)

    def row_of(self, key: str) -> int | None:
        """Look up the row of an id, by bisection if there are many; None if unknown."""
        if self._rows is not None:
            return self._rows.get(key)
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self[int(self.order[middle])] < key:
                low = middle + 1
            else:
                high = middle
        if low == len(self):
            return None
        row = int(self.order[low])
        return row if self[row] == key else None

    def repeated(self) -> str | None:
        """An id that occurs more than once, or None."""
        if len(self) < 2:
            return None
        ranked = self._column.take(self.order)
        same = pc.equal(ranked[:-1], ranked[1:])
        twice = pc.index(same, True).as_py()
        return None if twice < 0 else str(ranked[twice].as_py())


class Ids:
    """Ids of rows: past ids, which ``find`` looks up, then appended ids."""

    def __init__(self, past: Sequence[str] | IdColumn = (), find: Find | None = None) -> None:
        self._past, self._first = past, len(past)
        self._find: Find = find or {past[row]: row for row in range(len(past))}.get
        self._later: list[str] = []
        self._rows: dict[str, int] = {}

    def __len__(self) -> int:
        return self._first + len(self._later)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.row_of(key) is not None

    def __getitem__(self, row: int) -> str:
        return self._past[row] if row < self._first else self._later[row - self._first]

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def row_of(self, key: str) -> int | None:
        """Look up the row of an id; None if unknown."""
        row = self._rows.get(key)
        return self._find(key) if row is None else row

    def append(self, key: str) -> None:
        """Name the next row. The caller has made sure that the id is new."""
        self._rows[key] = len(self)
        self._later.append(key)


def one_chunk(column: pa.ChunkedArray) -> Any:
    """A column in one piece, where its text fits into one; Arrow's arrays have no types here."""
    whole = column.combine_chunks()
    # The result of Arrow is still chunked where the text does not fit into one chunk.
    return whole.chunk(0) if getattr(whole, "num_chunks", 0) == 1 else whole
