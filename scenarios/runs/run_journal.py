"""The journal of a run folder with its sessions and costs, and the hash of a scenario."""

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

JOURNAL = "journal.sqlite"
NUMBER = "identity_number"
"""The key of manifests, journals and locks."""
COMMAND = "command"
"""The note in a journal of the command line that began or resumed it, as a JSON list."""


def require_identity(number: object, where: Path) -> None:
    """Refuse a folder that, by the number in it, was written under another identity."""
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


def open_journal(
    folder: Path, fork: Path | None = None, fence: Callable[[], None] | None = None
) -> Journal:
    """The journal of a run folder, created if missing; only this process writes it."""
    parent = None if fork is None else fork / JOURNAL
    if fork is not None and parent is not None:
        if not parent.is_file():
            raise InputError(f"{fork}: contains no journal to fork from")
        if folder.resolve() == fork.resolve():
            raise InputError(f"{folder}: a fork needs a new folder; give --out NEW")
        with Journal(parent, frozen=True) as held:
            require_journal_identity(held, fork)
    return Journal(folder / JOURNAL, parent=parent, fence=fence)


def require_journal_identity(journal: Journal, folder: Path) -> None:
    """Refuse a journal with calls in it that was written under another identity."""
    if journal.meta("identity") is not None:
        require_identity(journal.meta(NUMBER), folder)


def require_same_weights(journal: Journal, scenario: Scenario) -> None:
    """Refuse to resume a run with other weights under the same name."""
    name = scenario.backend.backend.paid.served_name if not journal.is_empty else ""
    other = next((model for model in journal.models() if HASHED in model and model != name), None)
    if name and other:
        raise InputError(
            f"backend.weights: this run has been answered by {other}, not by {name}; "
            "use the earlier weights, or another folder with --out"
        )


def sign_journal(journal: Journal, scenario: Scenario) -> None:
    """Note the scenario and release that resume this journal, and which keys have changed."""
    text = json.dumps(scenario.to_data())
    held = json.loads(journal.meta("scenario") or "{}")
    try:
        release = metadata.version("virsci-society")
    except metadata.PackageNotFoundError:
        release = "not installed"
    entry = {"session": journal.session, "release": release}
    if held:
        entry["changed"] = list(key_differences(held, json.loads(text)))
    notes = {
        "sessions": json.dumps([*json.loads(journal.meta("sessions") or "[]"), entry]),
        "identity": identity_hash(scenario),
        NUMBER: str(IDENTITY),
        "free": "yes" if scenario.backend.backend.free else "no",
        "scenario": text,
    }
    if words := ARGUMENTS.get():
        notes[COMMAND] = json.dumps(list(map(redact, words)))
    # In one commit: a journal that says who wrote it says all of it.
    journal.set_meta(notes)


def ledger_of(journal: Journal) -> dict[str, Any]:
    """The cost of all calls so far, as the manifest contains it: attempts, tokens, US dollars."""
    totals, mismatch = journal.totals(), journal.first_parent_mismatch
    return {name: getattr(totals, name) for name in _TOTALS} | {
        "outcomes": dict(sorted(totals.outcomes.items())),
        "free": journal.meta("free") == "yes",
        "in_doubt": journal.in_doubt(),
        "sessions": json.loads(journal.meta("sessions") or "[]"),
        "parted": mismatch[1] if mismatch else None,
        "forked": json.loads(journal.meta("forked") or "null"),
    }


_TOTALS = (
    *("attempts", "prompt_tokens", "completion_tokens", "cached_tokens", "estimated", "usd"),
    *("in_doubt_tokens", "in_doubt_usd", "cut_off", "cut_off_tokens", "cut_off_usd"),
)


def key_differences(
    old: Mapping[str, Any], new: Mapping[str, Any], path: str = ""
) -> Iterator[str]:
    """Every key whose value differs, dotted, with both values: ``turns: 3 -> 5``."""
    for key in dict.fromkeys((*old, *new)):
        before, after, here = old.get(key), new.get(key), f"{path}{key}"
        if isinstance(before, dict) and isinstance(after, dict):
            yield from key_differences(before, after, f"{here}.")
        elif before != after:
            values = (json.dumps(data[key]) if key in data else "default" for data in (old, new))
            yield f"{here}: {' -> '.join(values)}"
