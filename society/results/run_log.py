"""RunLog: what happened, in simulated order.

Events get their date and sequence on the clock. Rows of tables are appended in the order in
which they become facts; what is born of words is written when its team ends. Once sealed, the
log takes nothing more, so that closing a run leaves no trace in it. A run that is stopped goes
back to the last day that the clock has completed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import floor
from typing import Any

from society.tables import TABLES

Rows = Mapping[str, Sequence[tuple[Any, ...]]]


class RunLog:
    """Events and rows of one run.

    Attributes:
        events: dicts with ``date``, ``sequence``, ``kind`` and further fields.
        rows: per table of ``society.tables``, tuples in the order of its columns.
        before: tells the rows from before the run that are left out of ``rows``, because they
            depend on what happens in it (see ``opening``); None where there are none.
        completed: the date until which nothing can be added any more.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.events: list[dict[str, Any]] = []
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
        self.before: Callable[[Rows], Rows] | None = None
        self.sealed = False
        self.completed = 0.0
        self._now = now
        self._lengths: dict[str, int] = {}
        self._events = 0

    def event(self, kind: str, **fields: Any) -> None:
        """Something happened now."""
        if not self.sealed:
            entry = {"date": self._now(), "sequence": len(self.events), "kind": kind}
            self.events.append(entry | fields)

    def row(self, table: str, *values: Any) -> None:
        """One row of a table, its values in the order of the columns.

        Raises:
            ValueError: the number of values is not the number of columns.
        """
        if len(values) != len(TABLES[table]):
            raise ValueError(f"{table} has {len(TABLES[table])} columns, got {len(values)} values")
        if not self.sealed:
            self.rows[table].append(values)

    def whole(self) -> Rows:
        """All that the tables of the run hold by now; ``rows``, where nothing is left out."""
        if self.before is None:
            return self.rows
        before = self.before(self.rows)
        return {name: [*before.get(name, ()), *rows] for name, rows in self.rows.items()}

    def seal(self) -> None:
        """Take nothing more."""
        self.sealed = True

    def complete(self, date: float) -> float:
        """Everything dated before ``date`` has happened; returns the midnight to look at next."""
        self.completed = float(floor(date))
        self._events = len(self.events)
        self._lengths = {name: len(rows) for name, rows in self.rows.items()}
        return self.completed + 1.0

    def go_back(self) -> None:
        """Forget what is younger than the last completed day."""
        del self.events[self._events :]
        for name, rows in self.rows.items():
            del rows[self._lengths.get(name, 0) :]
