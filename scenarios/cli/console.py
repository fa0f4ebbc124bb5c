"""Overview: what happened in a run, as tables for a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from scenarios.complaints import printable

if TYPE_CHECKING:
    from society.run import Run


def partly(run: Run) -> str:
    """One line about a run that was stopped; nothing about a finished one."""
    if run.partial is None:
        return ""
    why = printable(" ".join(run.partial.split()))
    return f"{run.folder}: not finished; its world up to day {run.days:g} (stopped: {why})"


def print_overview(told: Mapping[str, Any]) -> None:
    """Print the summary of a run."""
    founded = "teams founded" if told["partial"] is None else "teams that had ended"
    backend = told["backend"]
    about = backend.get("about") if isinstance(backend, Mapping) else backend
    print_table(
        f"{told['scenario']}, seed {told['seed']}",
        ("figure", "value"),
        [
            ("simulated days", told["days"]),
            ("scientists", told["scientists"]),
            (founded, told["teams"]["founded"]),
            *_nested("teams", {k: v for k, v in told["teams"].items() if k != "founded"}),
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
    if told["reading"] is not None:
        print_table(
            "how replies were read", ("rung", "questions", "share"), _rungs(told["reading"])
        )
    if told["ledger"] is not None and told["ledger"]["attempts"]:
        print_table("what was asked and paid", ("figure", "value"), _paid(told["ledger"]))


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


def _rungs(reading: Mapping[str, Any]) -> list[tuple[str, int, str]]:
    asked = reading["asked"]
    counts = [*reading["rungs"].items()]
    counts += [(f"verdict: {name}", count) for name, count in reading["verdicts"].items() if count]
    return [(name, count, f"{count / asked:.1%}") for name, count in counts]


def _paid(ledger: Mapping[str, Any]) -> list[tuple[str, Any]]:
    rows = [("attempts", ledger["attempts"]), *_nested("attempts", ledger["outcomes"])]
    rows += [
        (name.replace("_", " "), ledger[name]) for name in ("prompt_tokens", "completion_tokens")
    ]
    rows += [
        ("answers with estimated tokens", ledger["estimated"]),
        ("US dollars", ledger["usd"] or "no price known"),
    ]
    if ledger["in_doubt"]:
        rows.append(("calls in doubt, perhaps paid twice", len(ledger["in_doubt"])))
        rows.append(("their tokens, at most", ledger["in_doubt_tokens"]))
        rows.append(("their US dollars, at most", ledger["in_doubt_usd"]))
    rows.append(("sessions", len(ledger["sessions"])))
    for session in ledger["sessions"]:
        rows += [(f"session {session['session']}", change) for change in session["changed"]]
    if ledger["parted"] is not None:
        rows.append(("first call unlike the run forked from", ledger["parted"]))
    return rows


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
