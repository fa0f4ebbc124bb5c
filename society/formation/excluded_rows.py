"""Rows that may not be drawn, as the union of two sets of which the larger is never copied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import filterfalse
from typing import Any, TypeVar

Row = TypeVar("Row")


class ExcludedRows(AbstractSet[int]):
    """The rows of those who have left the society, and of a few more people.

    In a large society with retirement most rows belong to people who have left, and a draw looks
    up only one or two rows. So the set of those who have left stays where it is; ``|`` adds to the
    small set only.

    Args:
        departed: rows of those who have left; later changes of this set show here.
        others: rows of more people, few of them.
    """

    def __init__(self, departed: AbstractSet[int], others: AbstractSet[int] = frozenset()) -> None:
        self._departed, self._others = departed, others

    def __contains__(self, row: object) -> bool:
        return row in self._others or row in self._departed

    def __iter__(self) -> Iterator[int]:
        yield from self._departed
        yield from filterfalse(self._departed.__contains__, self._others)

    def __len__(self) -> int:
        both = sum(map(self._departed.__contains__, self._others))
        return len(self._departed) + len(self._others) - both

    def __or__(self, more: AbstractSet[Any]) -> ExcludedRows:
        return ExcludedRows(self._departed, self._others | more)

    @classmethod
    def _from_iterable(cls, rows: Iterable[Row]) -> AbstractSet[Row]:
        """The result of every other set operator is a plain set."""
        return frozenset(rows)
