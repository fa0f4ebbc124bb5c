"""Excluded: people who may not be drawn, most of them because they have left for good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import filterfalse
from typing import Any, TypeVar

Row = TypeVar("Row")


class Excluded(AbstractSet[int]):
    """Rows in either of two sets, of which the larger is never copied.

    In a large society with retirement those who are gone are many, and a draw asks for one or two
    rows only. What is excluded besides them is joined by ``|``, and they stay where they are.

    Args:
        gone: rows of those who have left, as many as there are; later changes show.
        others: rows of some more people, few.
    """

    def __init__(self, gone: AbstractSet[int], others: AbstractSet[int] = frozenset()) -> None:
        self._gone, self._others = gone, others

    def __contains__(self, row: object) -> bool:
        return row in self._others or row in self._gone

    def __iter__(self) -> Iterator[int]:
        yield from self._gone
        yield from filterfalse(self._gone.__contains__, self._others)

    def __len__(self) -> int:
        both = sum(map(self._gone.__contains__, self._others))
        return len(self._gone) + len(self._others) - both

    def __or__(self, more: AbstractSet[Any]) -> Excluded:
        return Excluded(self._gone, self._others | more)

    @classmethod
    def _from_iterable(cls, rows: Iterable[Row]) -> AbstractSet[Row]:
        """A plain set comes out of every other operator."""
        return frozenset(rows)
