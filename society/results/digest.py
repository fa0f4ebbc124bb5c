"""The digest of a run: its content, not how the texts were obtained (rule 5)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from virsci_society.society.results.dataframes import sort_canonically
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import REPEATED_ACTS

OPTIONAL_TABLES = ("interests", "interventions", "careers", "outcomes", "submissions", "referees")
"""Tables that a digest leaves out where they are empty, because most runs do not use them."""

OPTIONAL_COLUMNS = {
    "scientists": ("arrived",),
    "homework": ("switching",),
    "outcomes": ("cost", "rated"),
    "papers": ("external_authors",),
}
"""Columns that a digest leaves out where no row has a value."""

IMPLIED_COLUMNS = ("live", "neighbour_query", "idea_by", "institution")
"""Columns that say nothing which ``calls``, the backend or the ecosystem does not say."""

PROVENANCE_COLUMNS = (
    "rung",
    "verdict",
    "unruled",
    "model",
    "prompt_tokens",
    "completion_tokens",
    "live",
    "noticed",
)
"""Columns of ``calls`` that say how words were obtained."""


def digest_content(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Select what a digest is taken of: accepted words, and nothing that follows from others."""
    calls = tables["calls"]
    calls = calls[~calls["act"].isin(REPEATED_ACTS)].drop(columns=list(PROVENANCE_COLUMNS))
    content = {
        name: table.drop(columns=list(IMPLIED_COLUMNS), errors="ignore")
        for name, table in tables.items()
        if name not in OPTIONAL_TABLES or len(table)
    }
    for name, columns in OPTIONAL_COLUMNS.items():
        if name in content:
            unused = [column for column in columns if content[name][column].isna().all()]
            content[name] = content[name].drop(columns=unused)
    return {**content, "calls": calls}


def digest_tables(tables: Mapping[str, pd.DataFrame]) -> str:
    """The sha256 (hex) of sorted tables: names, columns, and values to the last bit of a float."""
    total = hashlib.sha256()
    # By name, because the order of a mapping depends on who made it.
    for name in sorted(tables):
        table = sort_canonically(name, tables[name])
        total.update(f"table {name} {len(table)}\n".encode())
        for column in table.columns:
            values = [_plain(value) for value in table[column].tolist()]
            # ASCII with fixed separators: the same bytes on every machine.
            line = json.dumps([column, values], ensure_ascii=True, separators=(",", ":"))
            total.update(line.encode() + b"\n")
    return total.hexdigest()


def _plain(value: Any) -> Any:
    if value is pd.NA or value is None or value != value:
        return None
    # numpy's numbers are not JSON; as Python numbers they are written exactly.
    return value.item() if hasattr(value, "item") else value


@dataclass(frozen=True, slots=True)
class RunPrefix:
    """What a run has in common with its forks: events and calls dated before a date (rule 23)."""

    events: int
    calls: int
    digest: str


def compute_run_prefix(run: Run, before: float) -> RunPrefix:
    """The prefix of a run before a date in days, exclusive."""
    events = [event for event in run.events() if event["date"] < before]
    calls = digest_content({"calls": run.table("calls")})["calls"]
    asked = calls[calls["asked"] < before]
    total = hashlib.sha256(digest_tables({"calls": asked}).encode())
    for event in events:
        total.update(json.dumps(event, sort_keys=True).encode() + b"\n")
    return RunPrefix(len(events), len(asked), total.hexdigest())
