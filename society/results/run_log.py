"""The log of a run, with events and rows of tables, in simulated order.

Events get their date and sequence on the clock (rule 24). Rows are appended in the order in which
they become facts; those born of words are written when their team ends. A sealed log takes
nothing more, so that closing a run leaves no trace in it. The log of a run that is stopped goes
back to the last day that the clock has completed (rule 2).
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from typing import Any

import simpy

from virsci_society.society.results.tables import TABLES, TableRows


class RunLog:
    """Events and rows of one run.

    Attributes:
        events: dicts with ``date``, ``sequence``, ``kind`` and further fields.
        rows: for each table of ``society.results.tables``, tuples in the order of its columns.
        initial_rows: in a large society, a function of ``rows`` that returns the rows about the
            time before the run (``InitialTables.rows``); None where ``rows`` has them already.
        sealed: whether the log takes nothing more.
        completed: the date in days until which nothing can be added any more.

    Args:
        env: the SimPy environment; its time is in days.
    """

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
        """Add an event that happens now.

        Args:
            kind: what happens, such as ``founded``.
            **fields: further values, which JSON can hold.
        """
        if not self.sealed:
            entry = {"date": float(self._env.now), "sequence": len(self.events), "kind": kind}
            self.events.append(entry | fields)

    def row(self, table: str, *values: Any) -> None:
        """Add one row to a table.

        Args:
            table: a key of ``TABLES``.
            *values: in the order of its columns.

        Raises:
            ValueError: the number of values is not the number of columns.
        """
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
        """Note that everything dated before a day has happened.

        Args:
            date: of the next event, in days; its day is not complete.

        Returns:
            The next midnight, before which this need not be called again.
        """
        self.completed = float(floor(date))
        self._events = len(self.events)
        self._lengths = {name: len(rows) for name, rows in self.rows.items()}
        return self.completed + 1.0

    def roll_back(self) -> None:
        """Remove what is younger than the last completed day (rule 2)."""
        del self.events[self._events :]
        for name, rows in self.rows.items():
            del rows[self._lengths.get(name, 0) :]
