"""The run folders below a folder, each with its state, date and cost.

A folder may come from a stranger: a manifest that cannot be read makes a damaged entry, never an
error, and nothing is followed through a link.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import require_regular_file
from virsci_society.scenarios.runs.run_journal import JOURNAL

MANIFEST = "manifest.json"
PARTIAL = "partial"
QUESTIONS = "questions.json"
"""Of a folder with a journal that is no run: questions were put to a model in it."""
DEPTH = 4
"""Levels of folders that are searched."""


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run folder.

    Attributes:
        folder: the folder.
        state: ``finished``, ``stopped`` (with a part of its world to be seen), ``begun`` (stopped
            or still running, without one) or ``damaged``.
        date: when it was last written, in ISO 8601 and UTC.
        scenario: title of the scenario; empty where it is not known.
        seed: of the run; None where it is not known.
        days: simulated days that it holds; None where it is not known.
        calls: calls that were paid or answered by rules; None likewise.
        tokens: of all attempts; None likewise.
        usd: US dollars; None likewise.
    """

    folder: str
    state: str
    date: str
    scenario: str = ""
    seed: int | None = None
    days: float | None = None
    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None

    def to_data(self) -> dict[str, Any]:
        """The entry as plain data."""
        return asdict(self)


def list_runs(root: Path) -> list[RunEntry]:
    """Every run folder below a folder, or the folder itself, sorted by path.

    Args:
        root: the folder to search.

    Raises:
        InputError: it is no folder.
    """
    if not root.is_dir():
        raise InputError(f"{root}: no such folder; runs are written to runs/ by default")
    return [_entry(folder) for folder in _run_folders(root, DEPTH)]


def _run_folders(folder: Path, depth: int) -> Iterator[Path]:
    if _is_run(folder):
        yield folder
        return
    if depth:
        below = sorted(one for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
        for one in below:
            yield from _run_folders(one, depth - 1)


def _is_run(folder: Path) -> bool:
    has_tables = (folder / MANIFEST).is_file() and (folder / "tables").is_dir()
    asked = (folder / QUESTIONS).is_file()
    return has_tables or ((folder / JOURNAL).is_file() and not asked)


def _entry(folder: Path) -> RunEntry:
    part = folder / PARTIAL
    finished = (folder / MANIFEST).is_file()
    file = folder / MANIFEST if finished else part / MANIFEST
    newest = file if file.is_file() else folder / JOURNAL
    date = datetime.fromtimestamp(newest.stat().st_mtime, UTC).isoformat(timespec="seconds")
    if part.is_symlink() or not file.is_file():
        return RunEntry(str(folder), "begun", date)
    try:
        held = json.loads(require_regular_file(file).read_text(encoding="utf-8"))
        return RunEntry(str(folder), "finished" if finished else "stopped", date, **_told_in(held))
    except (OSError, InputError, ValueError, TypeError, AttributeError, RecursionError):
        return RunEntry(str(folder), "damaged", date)


def _told_in(manifest: dict[str, Any]) -> dict[str, Any]:
    ledger = manifest.get("ledger") or {}
    paid = int(ledger.get("prompt_tokens", 0)) + int(ledger.get("completion_tokens", 0))
    return {
        "scenario": str(manifest.get("name") or ""),
        "seed": int(manifest["seed"]),
        "days": float(manifest["days"]),
        "calls": int(ledger.get("attempts", 0)),
        "tokens": paid,
        "usd": float(ledger.get("usd", 0.0)),
    }
