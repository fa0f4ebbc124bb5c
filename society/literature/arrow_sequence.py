"""Sequences of dataclass rows that are stored as the columns of an Arrow table.

Two million papers as Python objects take minutes to make and tens of gigabytes; as a table they
take what their text takes. Code that counts or compares uses the columns; code that reads asks for
a row, which is made when it is asked for.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

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
        import pyarrow as pa

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

    def digest(self) -> bytes:
        """Hash every value; the result does not depend on how the columns are cut into chunks.

        Returns:
            A SHA-256 digest of 32 bytes.
        """
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
    import pyarrow as pa

    return bool(pa.types.is_large_list(kind))


def _values_hash(chunks: Sequence[Any]) -> bytes:
    """Hash the values of arrays of one type, as if they were one array."""
    import pyarrow as pa
    import pyarrow.compute as pc

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
