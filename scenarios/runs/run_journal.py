"""Record: the journal of a run folder; whose it is, what has changed since, what it has cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from agents.errors import InputError
from agents.journal import Journal
from scenarios.identity import is_identity
from scenarios.runfolder import identity_hash
from scenarios.schema import Scenario

JOURNAL = "journal.sqlite"


def open_journal(
    folder: Path, fork: Path | None = None, fence: Callable[[], None] | None = None
) -> Journal:
    """The journal of a run folder, made if there is none; this process alone writes it.

    Args:
        folder: of the run.
        fork: another run folder, from which calls that are made in the same way are taken.
        fence: called before every commit; it raises a Stopped once nothing may be written any more.

    Raises:
        InputError: another process writes it, it is damaged, or there is nothing to fork from.
    """
    parent = None if fork is None else fork / JOURNAL
    if parent is not None and not parent.is_file():
        raise InputError(f"{fork}: holds no journal to fork from")
    if fork is not None and folder.resolve() == fork.resolve():
        raise InputError(f"{folder}: a fork needs a folder of its own; give --out NEW")
    return Journal.open(folder / JOURNAL, parent=parent, fence=fence)


def belongs(journal: Journal, scenario: Scenario) -> bool:
    """Was the journal begun by this scenario, as far as what happens goes?

    Where it was not, nothing new may be said until every call has been compared.
    """
    held = journal.meta("identity")
    known = json.loads(journal.meta("scenario") or "null")
    return held is None or is_identity(held, known, scenario)


def sign(journal: Journal, scenario: Scenario) -> None:
    """Note which scenario and release goes on with this journal, and what has changed."""
    told = json.dumps(scenario.to_data())
    data, held = json.loads(told), json.loads(journal.meta("scenario") or "{}")
    sessions = sessions_of(journal)
    entry = {"session": journal.session, "release": _release()}
    if held:
        entry["changed"] = list(changes(held, data))
    journal.set_meta("sessions", json.dumps([*sessions, entry]))
    journal.set_meta("identity", identity_hash(scenario))
    journal.set_meta("scenario", told)


def sessions_of(journal: Journal) -> list[dict[str, Any]]:
    """One entry for each time the run was begun or resumed: number, release, what had changed."""
    sessions: list[dict[str, Any]] = json.loads(journal.meta("sessions") or "[]")
    return sessions


def ledger_of(journal: Journal) -> dict[str, Any]:
    """What the calls have cost so far, for the manifest."""
    totals = journal.totals()
    return {
        "attempts": totals.attempts,
        "outcomes": dict(sorted(totals.outcomes.items())),
        "prompt_tokens": totals.prompt_tokens,
        "completion_tokens": totals.completion_tokens,
        "estimated": totals.estimated,
        "usd": totals.usd,
        "in_doubt": journal.in_doubt(),
        "in_doubt_tokens": totals.in_doubt_tokens,
        "in_doubt_usd": totals.in_doubt_usd,
        "sessions": sessions_of(journal),
        "parted": journal.parted[1] if journal.parted else None,
        "forked": json.loads(journal.meta("forked") or "null"),
    }


def changes(old: Mapping[str, Any], new: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Every key whose value differs, dotted, with both values: ``turns: 3 -> 5``."""
    for key in dict.fromkeys((*old, *new)):
        before, after, here = old.get(key), new.get(key), f"{path}{key}"
        if isinstance(before, dict) and isinstance(after, dict):
            yield from changes(before, after, f"{here}.")
        elif before != after:
            yield f"{here}: {json.dumps(before)} -> {json.dumps(after)}"


def _release() -> str:
    try:
        return metadata.version("virsci-society")
    except metadata.PackageNotFoundError:
        return "not installed"
