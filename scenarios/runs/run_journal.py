"""The journal of a run folder with its sessions and costs, and the hash of a scenario.

The hash is made of the identity keys that differ from the defaults of a numbered identity
(``config.document.IDENTITY``). Manifests, journals and locks bear the number, and a folder with
another one is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.backends.weights import HASHED
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import hash_json
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.redaction import redact
from virsci_society.scenarios.config.document import IDENTITY
from virsci_society.scenarios.config.ecosystem_folder import MANIFEST as ECOSYSTEM_MANIFEST
from virsci_society.scenarios.config.ecosystem_folder import Folder
from virsci_society.scenarios.runs.signals import ARGUMENTS

if TYPE_CHECKING:
    # 'society show' passes through this file, and reads no scenario.
    from virsci_society.scenarios.config.schema import Scenario

NUMBER = "identity_number"
"""The key of manifests, journals and locks."""
COMMAND = "command"
"""The note in a journal of the command line that began or resumed it, as a JSON list."""


def require_identity(number: object, where: Path) -> None:
    """See that a folder, by the number that it bears, was written under the identity of today."""
    if str(number) != str(IDENTITY):
        raise InputError(
            f"{where}: was written under identity {number or 'unknown'}, and this program has "
            f"identity {IDENTITY}; run it again in another folder"
        )


def identity_hash(scenario: Scenario) -> str:
    """sha256 of what happens in a run: identity keys, and the content of an ecosystem folder."""
    return hash_json(identity_data(scenario))


def identity_data(scenario: Scenario) -> dict[str, Any]:
    """The identity keys, with the path of an ecosystem folder replaced by a hash of its content."""
    data = scenario.identity()
    source = scenario.population.ecosystem
    if isinstance(source, Folder):
        source.require()
        content = (source.path / ECOSYSTEM_MANIFEST).read_bytes()
        data["population"]["ecosystem"]["path"] = hashlib.sha256(content).hexdigest()
    return data


JOURNAL = "journal.sqlite"


def open_journal(
    folder: Path, fork: Path | None = None, fence: Callable[[], None] | None = None
) -> Journal:
    """The journal of a run folder, made if there is none; this process alone writes it."""
    parent = None if fork is None else fork / JOURNAL
    if parent is not None and not parent.is_file():
        raise InputError(f"{fork}: holds no journal to fork from")
    if fork is not None and folder.resolve() == fork.resolve():
        raise InputError(f"{folder}: a fork needs a folder of its own; give --out NEW")
    if fork is not None:
        with Journal(fork / JOURNAL, frozen=True) as held:
            require_journal_identity(held, fork)
    return Journal(folder / JOURNAL, parent=parent, fence=fence)


def matches_journal(journal: Journal, scenario: Scenario) -> bool:
    """Was the journal begun by this scenario, as far as its identity goes?

    Where it was not, no new call may be made until every known call has been compared.
    """
    held = journal.meta("identity")
    return held is None or held == identity_hash(scenario)


def require_journal_identity(journal: Journal, folder: Path) -> None:
    """See that a journal with calls in it was written under the identity of today."""
    if journal.meta("identity") is not None:
        require_identity(journal.meta(NUMBER), folder)


def require_same_weights(journal: Journal, scenario: Scenario) -> None:
    """See that other weights under the same name do not resume a run."""
    name = scenario.backend.backend.paid.served_name if not journal.is_empty else ""
    other = next((one for one in journal.models() if HASHED in one and one != name), None)
    if name and other:
        raise InputError(
            f"backend.weights: the calls of this run were answered by {other}, and this is {name}; "
            "give those weights, or another folder with --out"
        )


def sign_journal(journal: Journal, scenario: Scenario) -> None:
    """Note the scenario and release that resume this journal, and which keys have changed."""
    scenario_text = json.dumps(scenario.to_data())
    data, held = json.loads(scenario_text), json.loads(journal.meta("scenario") or "{}")
    sessions = sessions_of(journal)
    entry = {"session": journal.session, "release": _release()}
    if held:
        entry["changed"] = list(key_differences(held, data))
    notes = {
        "sessions": json.dumps([*sessions, entry]),
        "identity": identity_hash(scenario),
        NUMBER: str(IDENTITY),
        "free": "yes" if scenario.backend.backend.free else "no",
        "scenario": scenario_text,
    }
    if words := ARGUMENTS.get():
        notes[COMMAND] = json.dumps(list(map(redact, words)))
    # In one commit: a journal that says who wrote it says all of it.
    journal.set_meta(notes)


def sessions_of(journal: Journal) -> list[dict[str, Any]]:
    """One entry for each time the run was begun or resumed: number, release, changed keys."""
    sessions: list[dict[str, Any]] = json.loads(journal.meta("sessions") or "[]")
    return sessions


def ledger_of(journal: Journal) -> dict[str, Any]:
    """The cost of all calls so far, as the manifest holds it: attempts, tokens, US dollars."""
    totals = journal.totals()
    return {
        "attempts": totals.attempts,
        "outcomes": dict(sorted(totals.outcomes.items())),
        "prompt_tokens": totals.prompt_tokens,
        "completion_tokens": totals.completion_tokens,
        "cached_tokens": totals.cached_tokens,
        "estimated": totals.estimated,
        "usd": totals.usd,
        "free": journal.meta("free") == "yes",
        "in_doubt": journal.in_doubt(),
        "in_doubt_tokens": totals.in_doubt_tokens,
        "in_doubt_usd": totals.in_doubt_usd,
        "cut_off": totals.cut_off,
        "cut_off_tokens": totals.cut_off_tokens,
        "cut_off_usd": totals.cut_off_usd,
        "sessions": sessions_of(journal),
        "parted": journal.first_parent_mismatch[1] if journal.first_parent_mismatch else None,
        "forked": json.loads(journal.meta("forked") or "null"),
    }


def key_differences(
    old: Mapping[str, Any], new: Mapping[str, Any], path: str = ""
) -> Iterator[str]:
    """Every key whose value differs, dotted, with both values: ``turns: 3 -> 5``.

    A key that is missing on one side has its default there.
    """
    for key in dict.fromkeys((*old, *new)):
        before, after, here = old.get(key), new.get(key), f"{path}{key}"
        if isinstance(before, dict) and isinstance(after, dict):
            yield from key_differences(before, after, f"{here}.")
        elif before != after:
            told = (json.dumps(one[key]) if key in one else "default" for one in (old, new))
            yield f"{here}: {' -> '.join(told)}"


def _release() -> str:
    try:
        return metadata.version("virsci-society")
    except metadata.PackageNotFoundError:
        return "not installed"
