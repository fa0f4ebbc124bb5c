"""The initial tables of a run, which hold the world on day 0 as ``scientists`` and ``ties``.

Where everybody is an agent, a run lists all people and all ties. A run of a larger society lists
only those who took part (who were in a team, were invited or were asked for words) and their ties
from before day 0. All others are in the ecosystem, where nothing has happened to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.society.ecosystem.people import People
from virsci_society.society.results.tables import TABLES, TableRows

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.population.network import CoauthorNetwork
    from virsci_society.society.population.population import Population

DATE_BEFORE_DAY_0 = -1.0
"""The date of all ties from before day 0."""
PARTICIPANT_COLUMNS = {
    "members": "scientist",
    "invitations": "invitee",
    "consultations": "guest",
    "authorships": "scientist",
    "homework": "scientist",
    "calls": "scientist",
}
"""The column of each table that names people who took part."""


class InitialTables:
    """The rows of a run's tables that are about the time before it.

    Args:
        ecosystem: people and ties before day 0.
        population: the same people in the society, which has their rows and names.
        network: who had written with whom.
    """

    def __init__(
        self, ecosystem: Ecosystem, population: Population, network: CoauthorNetwork
    ) -> None:
        self._ecosystem, self._population, self._network = ecosystem, population, network

    def rows(self, happened: TableRows) -> TableRows:
        """The initial rows of a large society, which depend on who took part.

        Args:
            happened: the rows of all tables since day 0.
        """
        participants = self._participants(happened)
        return {"scientists": self.scientists(participants), "ties": self.ties(participants)}

    def scientists(self, chosen: IntArray | None = None) -> list[tuple[Any, ...]]:
        """Rows of the table ``scientists`` for people of day 0.

        Args:
            chosen: rows of the population, ascending; None: everybody.
        """
        people, years = self._ecosystem.profiles, self._ecosystem.career_starts
        if chosen is not None:
            people, years = People(people.table.take(chosen)), years[chosen]
        citations = (None if count != count else int(count) for count in people.citations.tolist())
        first_years = (year or None for year in years.tolist())
        columns = (people.names, people.topics, people.papers.tolist(), citations, first_years)
        return [(*row, None) for row in zip(*columns, strict=True)]

    def ties(self, chosen: IntArray | None = None) -> list[tuple[Any, ...]]:
        """Rows of the table ``ties`` for joint papers before day 0.

        Args:
            chosen: rows of the population; only ties with one of them at an end. None: all.
        """
        names = self._population.names
        lines = self._network.ties_before_day_0(chosen).tolist()
        return [
            (*sorted((names[i], names[j])), DATE_BEFORE_DAY_0, number) for i, j, number in lines
        ]

    def _participants(self, happened: TableRows) -> IntArray:
        names: set[str] = set()
        for table, name in PARTICIPANT_COLUMNS.items():
            index = [column.name for column in TABLES[table]].index(name)
            names.update(row[index] for row in happened[table])
        # The rows of newcomers were written when they came.
        people = range(len(self._ecosystem.profiles))
        rows = sorted(row for name in names if (row := self._population.rows[name]) in people)
        return np.array(rows, dtype=np.int64)
