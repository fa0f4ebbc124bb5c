"""The summary of a finished run as a file of its folder, so that it is shown without the tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import hash_json, read_hashes, source_digest
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.replies.text_checks import SHOWS_THE_FORM, WARN_AT

SUMMARY = "summary.json"


def read_summary(folder: Path, part: str = "summary") -> Any:
    """The summary written with a run, or its network; None if missing or of other code or data."""
    if not (folder / "manifest.json").is_file() or (hashes := read_hashes(folder)) is None:
        return None
    tables = [path.relative_to(folder).as_posix() for path in folder.glob("tables/**/*.parquet")]
    shown = ("manifest.json", "scenario.yaml", "digest", SUMMARY, *tables)
    if not all(name in hashes.files and (folder / name).exists() for name in shown):
        return None
    for name in shown:
        hashes.check(folder / name)
    data = read_json_object(folder / SUMMARY)
    if not isinstance(data.get("summary"), Mapping):
        raise InputError(f"{folder / SUMMARY}: not a run summary")
    manifest = read_json_object(folder / "manifest.json")
    key = summary_key(manifest, {name: hashes.files[name] for name in tables})
    return data.get(part) if data.get("key") == key else None


def summary_key(manifest: Mapping[str, Any], tables: Mapping[str, str]) -> str:
    """A hash of everything a summary depends on: this code, the manifest and the tables."""
    described = {name: value for name, value in manifest.items() if name != "hashes"}
    return hash_json({"sources": source_digest(), "manifest": described, "tables": dict(tables)})


def ended_words(summary: Mapping[str, Any], days: str) -> str:
    """How an unfinished run ended, such as ``was stopped by budget on day 12``."""
    state = str(summary.get("state", "stopped"))
    if state.startswith("stopped"):
        return f"was {state} on day {days}"
    # A later session may be ahead of the tables that the last stop wrote.
    verb = {"failed": "failed", "running": "is running"}.get(state, f"was {state}")
    return f"{verb}; results cover it up to day {days}"


TEXT_COUNTS = ["asked", "spoilt", "echoed", "default", "equal", "short", "loop", "cut"]
"""Columns of ``cost.reply_texts``."""


def text_sentences(reading: Mapping[str, Any] | None) -> list[str]:
    """Formal problems of a model's replies, whose content is not judged; empty for rules."""
    rows = ((reading or {}).get("texts") or {}).values()
    counts = {name: sum(row[name] for row in rows) for name in TEXT_COUNTS}
    asked, spoilt = counts["asked"], counts["spoilt"]
    if not asked or reading is None:
        return []
    told = {
        "echoed": "copied the prompt and were requested again",
        "default": "were replaced by a default",
        "equal": "equal another scientist's reply",
        "short": "are far shorter than requested",
        "loop": "repeat a phrase many times",
        "cut": "were cut off at the length limit",
    }
    noticed = ", ".join(f"{counts[name]:,} {words}" for name, words in told.items() if counts[name])
    unread = reading["rungs"].get("unread", 0)
    parsed = "All replies were parsed." if not unread + counts["default"] else ""
    said = (
        f"{parsed} Their content was not judged; of {asked:,}, {noticed or 'none is conspicuous'}."
    )
    first = f"{SHOWS_THE_FORM}: {spoilt:,} of {asked:,} replies were copies or defaults."
    return [first, said.strip()] if spoilt > WARN_AT * asked else [said.strip()]
