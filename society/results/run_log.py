"""The log of a run, with events and rows of tables in simulated order, and the tables of day 0."""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np
import simpy

from virsci_society.agents.arrays import IntArray
from virsci_society.society.ecosystem.knowledge_bank import People
from virsci_society.society.results.tables import TABLES, TableRows

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.population.network import CoauthorNetwork
    from virsci_society.society.population.population import Population


class RunLog:
    """Events and rows of a run; a sealed log takes nothing more (rule 2)."""

    def __init__(self, env: simpy.Environment) -> None:
        self.events: list[dict[str, Any]] = []
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
        self.initial_rows: Callable[[TableRows], TableRows] | None = None
        self.sealed = False
        self.completed = 0.0
        self._env = env
        self._lengths: dict[str, int] = {}
        self._events = 0

    def event(self, kind: str, **fields: Any) -> None:
        """Add an event of a kind, such as ``founded``, with fields that JSON can encode."""
        if not self.sealed:
            entry = {"date": float(self._env.now), "sequence": len(self.events), "kind": kind}
            self.events.append(entry | fields)

    def row(self, table: str, *values: Any) -> None:
        """Add one row to a table of ``TABLES``, values in the order of its columns."""
        # Here and not at the end of the run, so that the traceback shows who wrote the row.
        if len(values) != len(TABLES[table]):
            raise ValueError(f"{table} has {len(TABLES[table])} columns, got {len(values)} values")
        if not self.sealed:
            self.rows[table].append(values)

    def all_rows(self) -> TableRows:
        """The rows of all tables by now, with those about the time before the run."""
        if self.initial_rows is None:
            return self.rows
        initial = self.initial_rows(self.rows)
        return {name: [*initial.get(name, ()), *rows] for name, rows in self.rows.items()}

    def seal(self) -> None:
        """Take nothing more, silently."""
        self.sealed = True

    def mark_completed(self, date: float) -> float:
        """Note that everything before the day of the next event has happened; returns its end."""
        self.completed = float(floor(date))
        self._events = len(self.events)
        self._lengths = {name: len(rows) for name, rows in self.rows.items()}
        return self.completed + 1.0

    def roll_back(self) -> None:
        """Remove rows later than the last completed day (rule 2)."""
        del self.events[self._events :]
        for name, rows in self.rows.items():
            del rows[self._lengths.get(name, 0) :]


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
    """The rows of a run's tables that are about the time before it."""

    def __init__(
        self, ecosystem: Ecosystem, population: Population, network: CoauthorNetwork
    ) -> None:
        self._ecosystem, self._population, self._network = ecosystem, population, network

    def rows(self, happened: TableRows) -> TableRows:
        """The initial rows of a large society, which depend on who took part."""
        names: set[str] = set()
        for table, name in PARTICIPANT_COLUMNS.items():
            index = [column.name for column in TABLES[table]].index(name)
            names.update(row[index] for row in happened[table])
        # The rows of newcomers were written when they came.
        people = range(len(self._ecosystem.profiles))
        rows = sorted(row for name in names if (row := self._population.rows[name]) in people)
        took_part = np.array(rows, dtype=np.int64)
        return {"scientists": self.scientists(took_part), "ties": self.ties(took_part)}

    def scientists(self, chosen: IntArray | None = None) -> list[tuple[Any, ...]]:
        """Rows of ``scientists`` for day 0: chosen rows, ascending; None: everybody."""
        people, years = self._ecosystem.profiles, self._ecosystem.career_starts
        if chosen is not None:
            people, years = People(people.table.take(chosen)), years[chosen]
        citations = (None if count != count else int(count) for count in people.citations.tolist())
        # 0 means an unknown year, NaN undated citations.
        first_years = (year or None for year in years.tolist())
        arrived = [None] * len(people)
        places = (place or None for place in people.workplaces)
        columns = (people.names, people.topics, people.papers.tolist(), citations, first_years)
        return list(zip(*columns, arrived, places, strict=True))

    def ties(self, chosen: IntArray | None = None) -> list[tuple[Any, ...]]:
        """Rows of ``ties`` for joint papers before day 0, with a chosen row at an end."""
        names = self._population.names
        lines = self._network.ties_before_day_0(chosen).tolist()
        return [
            (*sorted((names[i], names[j])), DATE_BEFORE_DAY_0, number) for i, j, number in lines
        ]
