"""Ids: the names of rows, both ways.

The past's ids may stand in a column of text that is searched where it lies: a dictionary of two
million ids takes more memory than their vectors do. Later ids are appended, each once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Find = Callable[[str], "int | None"]


class IdColumn(Sequence[str]):
    """Ids in an Arrow column of text; one is made a string when it is asked for."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        whole = column.combine_chunks()
        # Arrow's answer is chunked where the text does not fit into one.
        self._column: Any = whole.chunk(0) if getattr(whole, "num_chunks", 0) == 1 else whole

    def __len__(self) -> int:
        return len(self._column)

    @overload
    def __getitem__(self, row: int) -> str: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...

    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[place] for place in range(len(self))[row]]
        return str(self._column[range(len(self))[row]].as_py())

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """Rows in the order of their ids."""
        import pyarrow.compute as pc

        return np.asarray(pc.sort_indices(self._column), dtype=np.int64)

    def row_of(self, key: str) -> int | None:
        """The row of an id, by bisection; None where there is none."""
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
        """An id that stands there twice, if one does."""
        import pyarrow.compute as pc

        if len(self) < 2:
            return None
        ranked = self._column.take(self.order)
        same = pc.equal(ranked[:-1], ranked[1:])
        twice = pc.index(same, True).as_py()
        return None if twice < 0 else str(ranked[twice].as_py())


class Ids:
    """Ids of the rows of an index: those of the past, then those appended.

    Args:
        past: ids of the first rows; not changed afterwards.
        find: the row of one of these, or None; a dictionary is made where nothing is given.
    """

    def __init__(self, past: Sequence[str] = (), find: Find | None = None) -> None:
        self._past, self._first = past, len(past)
        self._find: Find = find or {key: row for row, key in enumerate(past)}.get
        self._later: list[str] = []
        self._rows: dict[str, int] = {}

    def __len__(self) -> int:
        return self._first + len(self._later)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.row_of(key) is not None

    def __getitem__(self, row: int) -> str:
        return self._past[row] if row < self._first else self._later[row - self._first]

    def row_of(self, key: str) -> int | None:
        """The row of an id; None where there is none."""
        row = self._rows.get(key)
        return self._find(key) if row is None else row

    def append(self, key: str) -> None:
        """Name the next row; whoever appends has made sure that the id is new."""
        self._rows[key] = len(self)
        self._later.append(key)
