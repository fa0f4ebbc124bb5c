"""Durable storage of every call, so that a run can be resumed, replayed and forked.

Read ``records`` for outcomes and attempts, then ``journal`` for the operations on them.
``writer`` commits the changes of many callers together, and ``database`` holds the SQLite schema
and its statements.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from agents.journal.journal import Journal as Journal
    from agents.journal.records import Attempt as Attempt
    from agents.journal.records import CallOutcome as CallOutcome
    from agents.journal.records import Totals as Totals

__all__ = ["Attempt", "CallOutcome", "Journal", "Totals"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Attempt": "agents.journal.records",
        "CallOutcome": "agents.journal.records",
        "Journal": "agents.journal.journal",
        "Totals": "agents.journal.records",
    },
)
