"""Overview: what happened in a run, as tables for a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from scenarios.complaints import printable


def print_overview(told: Mapping[str, Any]) -> None:
    """Print the summary of a run."""
    backend = told["backend"]
    about = backend.get("about") if isinstance(backend, Mapping) else backend
    print_table(
        f"{told['scenario']}, seed {told['seed']}",
        ("figure", "value"),
        [
            ("simulated days", told["days"]),
            ("scientists", told["scientists"]),
            *_nested("teams", told["teams"]),
            ("papers", told["papers"]),
            *((name, _mean(told[name])) for name in ("HD", "CD", "CI", "ON")),
            ("calls", told["calls"]["total"]),
            ("inference cost, mean", told["inference_cost"]["mean"]),
            *_nested("invitations", told["invitations"]),
            ("consultations", told["consultations"]),
            ("most teams at once", told["max_memberships"]),
            ("digest", told["digest"]),
            ("who spoke", about),
        ],
    )
    stages = list(told["calls"]["by_stage"].items())
    print_table("calls by stage", ("stage", "calls"), stages)
    cost = list(told["inference_cost"]["by_stage"].items())
    print_table("inference cost by stage, as VirSci counts it", ("stage", "calls"), cost)
    print_table("calls by act", ("act", "calls"), list(told["calls"]["by_act"].items()))
    waited = [(size, days) for size, days in told["waiting_days"].items()]
    print_table("days a team waits for its people, per round", ("people", "days"), waited)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print one table; numbers stand to the right."""
    table = Table(title=Text(title), title_justify="left")
    for place, column in enumerate(columns):
        numbers = all(isinstance(row[place], int | float) for row in rows)
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        # As Text: a title or a reason from a model must not be read as markup.
        table.add_row(*(Text(cell(value)) for value in row))
    Console().print(table)


def cell(value: Any) -> str:
    """A value as a table shows it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        if math.isnan(value):
            return "-"
        return f"{value:,.0f}" if value == round(value) else f"{value:,.3g}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def _nested(name: str, counts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, value in counts.items():
        if isinstance(value, Mapping):
            rows += [(f"{name} {key}: {why}", count) for why, count in value.items()]
        else:
            rows.append((f"{name} {key}", value))
    return rows


def _mean(measured: Mapping[str, Any] | None) -> Any:
    return None if measured is None else measured["mean"]
