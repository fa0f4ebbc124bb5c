"""The digest of a run: its content, not how the texts were obtained (rule 5)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

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


def digest_content(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Select what a digest is taken of: accepted words, and nothing that follows from others."""
    content = {}
    for name, table in tables.items():
        if name in OPTIONAL_TABLES and not len(table):
            continue
        optional = OPTIONAL_COLUMNS.get(name, ())
        left_out = {one for one in optional if table[one].null_count == len(table)}
        left_out.update(PROVENANCE_COLUMNS if name == "calls" else IMPLIED_COLUMNS)
        if name == "calls":
            table = table.filter(pc.invert(pc.is_in(table["act"], pa.array(REPEATED_ACTS))))
        content[name] = table.select([one for one in table.column_names if one not in left_out])
    return content


def digest_tables(tables: Mapping[str, pa.Table]) -> str:
    """The sha256 (hex) of sorted tables: names, columns, and values to the last bit of a float."""
    total = hashlib.sha256()
    # By name, because the order of a mapping depends on who made it.
    for name in sorted(tables):
        table = sort_canonically(name, tables[name])
        total.update(f"table {name} {len(table)}\n".encode())
        for column in table.column_names:
            values = table[column].to_pylist()
            # ASCII with fixed separators: the same bytes on every machine.
            line = json.dumps([column, values], ensure_ascii=True, separators=(",", ":"))
            total.update(line.encode() + b"\n")
    return total.hexdigest()


@dataclass(frozen=True, slots=True)
class RunPrefix:
    """What a run has in common with its forks: events and calls dated before a date (rule 23)."""

    events: int
    calls: int
    digest: str


def compute_run_prefix(run: Run, before: float) -> RunPrefix:
    """The prefix of a run before a date in days, exclusive."""
    events = [event for event in run.events() if event["date"] < before]
    calls = digest_content({"calls": run.in_arrow("calls")})["calls"]
    asked = calls.filter(pc.less(calls["asked"], before))
    total = hashlib.sha256(digest_tables({"calls": asked}).encode())
    for event in events:
        total.update(json.dumps(event, sort_keys=True).encode() + b"\n")
    return RunPrefix(len(events), len(asked), total.hexdigest())
