"""Names: the masked names of a population, both ways, without an object per person.

Those who come later are appended, with a string each.

A million names as Python strings take 60 MB, and a dictionary of them as much again; as a
column of text they are there already, and where they are ``Scientist0`` and so on the row is in
the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import overload

from society.ecosystem.people import MASK, People
from society.literature.ids import IdColumn


class Names(Sequence[str]):
    """The masked name of each row: those of the people, then those of newcomers."""

    def __init__(self, people: People) -> None:
        self._first, self._added = IdColumn(people.table["id"]), list[str]()

    @overload
    def __getitem__(self, row: int) -> str: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...

    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[place] for place in range(len(self))[row]]
        first = len(self._first)
        place = row if row >= 0 else row + len(self)
        return self._added[place - first] if place >= first else self._first[place]

    def __len__(self) -> int:
        return len(self._first) + len(self._added)

    def append(self, name: str) -> None:
        """Somebody of this name comes."""
        self._added.append(name)


class RowsByName(Mapping[str, int]):
    """The row of each masked name, found in the columns of the people."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._added: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        row = self._added.get(name)
        if row is None:
            row = self._people.row_of(name)
        if row is None:
            raise KeyError(name)
        return row

    def __iter__(self) -> Iterator[str]:
        return chain(self._people.names, self._added)

    def __len__(self) -> int:
        return len(self._people) + len(self._added)

    def __setitem__(self, name: str, row: int) -> None:
        self._added[name] = row


def next_name(rows: Mapping[str, int]) -> str:
    """The name of the next row, continued as every ecosystem that is built counts."""
    number = len(rows)
    while (name := f"{MASK}{number}") in rows:
        number += 1
    return name
