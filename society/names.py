"""Names: the masked names of a population, both ways, without an object per person.

A million names as Python strings take 60 MB, and a dictionary of them as much again; as a
column of text they are there already, and where they are ``Scientist0`` and so on the row is in
the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from society.ecosystem.people import People


class RowsByName(Mapping[str, int]):
    """The row of each masked name, found in the columns of the people."""

    def __init__(self, people: People) -> None:
        self._people = people

    def __getitem__(self, name: str) -> int:
        row = self._people.row_of(name)
        if row is None:
            raise KeyError(name)
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._people.names)

    def __len__(self) -> int:
        return len(self._people)
