"""The summary of a finished run as a file of its folder, so that it is shown without the tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import hash_json, read_hashes
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.replies.text_checks import SHOWS_THE_FORM, WARN_AT

SUMMARY = "summary.json"


def read_summary(folder: Path, part: str = "summary") -> Any:
    """The summary written with a run, or its network; None if missing or of other tables."""
    if not (folder / "manifest.json").is_file() or (hashes := read_hashes(folder)) is None:
        return None
    tables = {name: value for name, value in hashes.files.items() if name.startswith("tables/")}
    shown = ("manifest.json", "scenario.yaml", "digest", SUMMARY, *tables)
    if not all(name in hashes.files and (folder / name).exists() for name in shown):
        return None
    for name in shown:
        hashes.check(folder / name)
    data = read_json_object(folder / SUMMARY)
    if not isinstance(data.get("summary"), Mapping):
        raise InputError(f"{folder / SUMMARY}: not a run summary")
    return data.get(part) if data.get("tables") == hash_json(tables) else None


def ended_words(summary: Mapping[str, Any], days: str) -> str:
    """How a run ended that has not finished, such as ``was stopped by budget on day 12``."""
    state = str(summary.get("state", "stopped"))
    if state.startswith("stopped"):
        return f"was {state} on day {days}"
    # A later session may have come further than the world that the last stop has left.
    verb = {"failed": "failed", "running": "is running"}.get(state, f"was {state}")
    return f"{verb}; results cover it up to day {days}"


TEXT_COUNTS = ["asked", "spoilt", "echoed", "default", "equal", "short", "loop", "cut"]
"""What is counted of a model's replies by form (``cost.reply_texts``)."""


def text_sentences(reading: Mapping[str, Any] | None) -> list[str]:
    """What is noticed about a model's replies, whose content is not judged; empty for rules."""
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
