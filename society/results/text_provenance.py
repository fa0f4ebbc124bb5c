"""Who spoke in a run, model or rules, as metadata of every file that may leave its folder.

Source: https://www.w3.org/TR/tabular-metadata/ for CSV.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

SPEAKER = "speaker"
"""Name of the metadata in every file."""
CSV_METADATA = "csv-metadata.json"
"""Name of the metadata file of "CSV on the Web"."""


def backend_of(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The backend in a manifest; empty if missing."""
    backend = manifest.get("backend")
    return backend if isinstance(backend, Mapping) else {}


def speaker_of(manifest: Mapping[str, Any]) -> str:
    """Who spoke in a run: the rule-based scientists, or the models; empty if nothing is known."""
    return str(backend_of(manifest).get("about") or "")


def join_speakers(speakers: Iterable[str]) -> str:
    """The speakers of several runs, each once, in the order of their names."""
    return "; ".join(sorted({speaker for speaker in speakers if speaker}))


def events_header(speaker: str) -> str:
    """The first line of a file of events; empty where nothing is known."""
    return json.dumps({SPEAKER: speaker}) + "\n" if speaker else ""


def is_events_header(line: Mapping[str, Any]) -> bool:
    """True of the line that ``events_header`` writes, which is no event."""
    return set(line) == {SPEAKER}


def csv_metadata(speaker: str, names: Iterable[str]) -> str:
    """The metadata, as JSON, of CSV files in one folder."""
    # Sorted, so that the bytes do not depend on who lists the tables.
    tables = [{"url": name} for name in sorted(names)]
    content = {"@context": "http://www.w3.org/ns/csvw", "dc:creator": speaker, "tables": tables}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
