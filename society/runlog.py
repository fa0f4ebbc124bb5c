"""RunLog: what happened, in simulated order.

Events get their date and sequence on the clock. Rows of tables are appended in the order in
which they become facts; what is born of words is written when its team ends. Once sealed, the
log takes nothing more, so that closing a run leaves no trace in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from society.tables import TABLES


class RunLog:
    """Events and rows of one run.

    Attributes:
        events: dicts with ``date``, ``sequence``, ``kind`` and further fields.
        rows: per table of ``society.tables``, tuples in the order of its columns.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.events: list[dict[str, Any]] = []
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
        self.sealed = False
        self._now = now

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

    def seal(self) -> None:
        """Take nothing more."""
        self.sealed = True
