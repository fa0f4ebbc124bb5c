"""Ids of the rows of an index, looked up in both directions.

The ids of the past may stay in an Arrow column that is searched by bisection: a dictionary of two
million ids takes more memory than their vectors. Later ids are appended, each once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.lazy_imports import pa, pc

Find = Callable[[str], "int | None"]
FEW = 10_000
"""Ids of a column that are kept as Python strings and in a dictionary as well: they are read by the
hundred thousand in a run, and from Arrow that takes ten times as long."""


class IdColumn(Sequence[str]):
    """Ids in an Arrow column of text; of many, a Python string is made when one is asked for."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        whole = column.combine_chunks()
        # The result of Arrow is still chunked where the text does not fit into one chunk.
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
        if self._texts is not None:
            return self._texts[row]
        return str(self._column[row].as_py())

    @cached_property
    def _texts(self) -> list[str] | None:
        """All ids, where they are few."""
        return self._column.to_pylist() if len(self) <= FEW else None

    @cached_property
    def _rows(self) -> dict[str, int] | None:
        """The row of each id, where they are few; the first row of one that stands twice."""
        texts = self._texts
        if texts is None:
            return None
        return {texts[row]: row for row in reversed(range(len(texts)))}

    @cached_property
    def order(self) -> IntArray:
        """Row numbers in ascending order of their ids."""
        return np.asarray(pc.sort_indices(self._column), dtype=np.int64)

    def row_of(self, key: str) -> int | None:
        """Look up the row of an id, of many by bisection; None where there is none."""
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
    """Ids of the rows of an index: those of the past, then those appended.

    Args:
        past: ids of the first rows; must not change afterwards.
        find: looks up the row of a past id, or None; without it a dictionary is made.
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
        """Look up the row of an id; None where there is none."""
        row = self._rows.get(key)
        return self._find(key) if row is None else row

    def append(self, key: str) -> None:
        """Name the next row. The caller has made sure that the id is new."""
        self._rows[key] = len(self)
        self._later.append(key)
