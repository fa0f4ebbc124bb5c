"""The prefix of a run, that is what had happened in it before a date, as one digest.

Two runs share their prefix if every event dated before the date and every call asked before it
is the same in both, whatever came of them later (rule 23). So a fork is compared with its parent.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from virsci_society.society.results.digest import digest_content, digest_tables
from virsci_society.society.results.run import Run


@dataclass(frozen=True, slots=True)
class RunPrefix:
    """What a run has in common with its forks: all that happened before a date.

    Attributes:
        events: number of events dated before it.
        calls: number of calls asked before it, without repeated ones.
        digest: sha256 (hex) of these events and calls, the calls with their accepted words.
    """

    events: int
    calls: int
    digest: str


def compute_run_prefix(run: Run, before: float) -> RunPrefix:
    """The prefix of a run.

    Args:
        run: in memory or opened.
        before: the date in days, exclusive.
    """
    events = [event for event in run.events() if event["date"] < before]
    calls = digest_content({"calls": run.table("calls")})["calls"]
    asked = calls[calls["asked"] < before]
    total = hashlib.sha256(digest_tables({"calls": asked}).encode())
    for event in events:
        total.update(json.dumps(event, sort_keys=True).encode() + b"\n")
    return RunPrefix(len(events), len(asked), total.hexdigest())
