"""Masked names of a population, by row and back, without an object per person.

A large society reads them from the columns of its ecosystem. A million names as Python strings
take 60 MB, and a dictionary of them as much again; in the column of text they are there already,
and where they are ``Scientist0`` and so on the row is in the name. Newcomers are appended, with
a string each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import overload

from virsci_society.society.ecosystem.people import MASK, People
from virsci_society.society.literature.index.ids import IdColumn


class MaskedNames(Sequence[str]):
    """The masked name of each row: the people of day 0, then the newcomers.

    Args:
        people: the scientists of the ecosystem, as of day 0.
    """

    def __init__(self, people: People) -> None:
        self._first, self._added = IdColumn(people.table["id"]), list[str]()

    @overload
    def __getitem__(self, row: int) -> str: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...

    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[index] for index in range(len(self))[row]]
        first = len(self._first)
        index = row if row >= 0 else row + len(self)
        return self._added[index - first] if index >= first else self._first[index]

    def __len__(self) -> int:
        return len(self._first) + len(self._added)

    def append(self, name: str) -> None:
        """Add the name of a newcomer, whose row is the next one."""
        self._added.append(name)


class RowsByName(Mapping[str, int]):
    """The row of each masked name: a column of the people of day 0, and a dictionary of newcomers.

    Args:
        people: the scientists of the ecosystem, as of day 0.
    """

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


def next_masked_name(rows: Mapping[str, int]) -> str:
    """The masked name of the next newcomer.

    Names are counted on as in every ecosystem that is built, and a name in use is passed over.

    Args:
        rows: the rows by name of everybody who was ever here.
    """
    number = len(rows)
    while (name := f"{MASK}{number}") in rows:
        number += 1
    return name
