"""Past: what had happened in a run before a date, as one digest.

Two runs share their past up to a date if every event dated before it and every call asked
before it is the same in both, whatever came of them later (rule 23).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from society.frames import digest_tables, essential

if TYPE_CHECKING:
    from society.run import Run


@dataclass(frozen=True, slots=True)
class Past:
    """What had happened by a date.

    Attributes:
        events: dated before it.
        calls: asked before it; re-asks are the way to a call, and not counted.
        digest: sha256 (hex) of both, the calls with their accepted words.
    """

    events: int
    calls: int
    digest: str


def past_of(run: Run, before: float) -> Past:
    """The past of a run at a date (days, exclusive)."""
    events = [event for event in run.events() if event["date"] < before]
    calls = essential({"calls": run.table("calls")})["calls"]
    asked = calls[calls["asked"] < before]
    total = hashlib.sha256(digest_tables({"calls": asked}).encode())
    for event in events:
        total.update(json.dumps(event, sort_keys=True).encode() + b"\n")
    return Past(len(events), len(asked), total.hexdigest())
