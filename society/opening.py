"""Opening: the world on day 0 as rows of the tables ``scientists`` and ``ties``.

Where all are agents, a run lists everybody and every tie. A larger society lists those who took
part: whoever was in a team, was invited, or was asked for words, and the ties before day 0 of
which they are an end. The ecosystem has all the others, and none of them would be told apart
from the millions that it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from society.ecosystem.people import People
from society.tables import TABLES

if TYPE_CHECKING:
    from society.ecosystem.ecosystem import Ecosystem
    from society.network import CoauthorNetwork
    from society.population import Population

BEFORE = -1.0
"""The date of all ties before day 0."""
NAMED = {
    "members": "scientist",
    "invitations": "invitee",
    "consultations": "guest",
    "authorships": "scientist",
    "homework": "scientist",
    "calls": "scientist",
}
"""Columns that name those who took part."""

Rows = Mapping[str, Sequence[tuple[Any, ...]]]
Some = npt.NDArray[np.int64] | None


class Opening:
    """What stands in the tables of a run about the time before it.

    Args:
        ecosystem: people before day 0.
        population: the same people in the society.
        network: who had written with whom.
    """

    def __init__(
        self, ecosystem: Ecosystem, population: Population, network: CoauthorNetwork
    ) -> None:
        self._ecosystem, self._population, self._network = ecosystem, population, network

    def rows(self, happened: Rows) -> Rows:
        """The opening of a large society, of which these rows happened since."""
        some = self._took_part(happened)
        return {"scientists": self.scientists(some), "ties": self.ties(some)}

    def scientists(self, some: Some = None) -> list[tuple[Any, ...]]:
        """Rows of ``scientists``: everybody, or some rows of the population."""
        people, starts = self._ecosystem.profiles, self._ecosystem.career_starts
        if some is not None:
            people, starts = People(people.table.take(some)), starts[some]
        known = (None if number != number else int(number) for number in people.citations.tolist())
        first = (year or None for year in starts.tolist())
        columns = (people.names, people.topics, people.papers.tolist(), known, first)
        return [(*row, None) for row in zip(*columns, strict=True)]

    def ties(self, some: Some = None) -> list[tuple[Any, ...]]:
        """Rows of ``ties`` before day 0: all of them, or those with some people at an end."""
        names = self._population.names
        lines = self._network.base_ties(some).tolist()
        return [(*sorted((names[i], names[j])), BEFORE, number) for i, j, number in lines]

    def _took_part(self, happened: Rows) -> npt.NDArray[np.int64]:
        seen: set[str] = set()
        for table, column in NAMED.items():
            place = [one.name for one in TABLES[table]].index(column)
            seen.update(row[place] for row in happened[table])
        # The rows of newcomers were written when they came.
        people = range(len(self._ecosystem.profiles))
        rows = sorted(row for name in seen if (row := self._population.rows[name]) in people)
        return np.array(rows, dtype=np.int64)
