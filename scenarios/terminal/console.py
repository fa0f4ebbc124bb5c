"""Tables for a terminal, and the overview of a run."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from virsci_society.agents.spelling import printable

if TYPE_CHECKING:
    from pathlib import Path

    from virsci_society.society.results.run import Run

PLAIN_WIDTH = 1000
"""Columns of a table that is piped, so that no cell is broken."""


def open_to_show(folder: Path) -> Run:
    """Open a run, or the part of it that there is; a line on stderr tells how such a run ended."""
    from virsci_society.scenarios.runs.run_state import FINISHED, RUNNING, going_on, open_run

    run, state = open_run(folder)
    if run.partial is not None:
        days = f"{run.folder}: not finished; its world up to day {run.days:g}"
        now = f", now at {state.stood}" if state.state == RUNNING and state.stood else ""
        print(printable(f"{days} ({state.words}{now})"), file=sys.stderr)
        if state.state != RUNNING:
            print(printable(going_on(state)), file=sys.stderr)
    elif state.state != FINISHED:
        later = f"{folder}: what is shown has finished; the session after it: {state.words}"
        print(printable(later), file=sys.stderr)
    return run


def print_overview(summary: Mapping[str, Any]) -> None:
    """Print the summary of a run as tables."""
    from virsci_society.metrics.reply_texts import TEXT_COUNTS

    founded = "teams founded" if summary["partial"] is None else "teams that had ended"
    backend, invited = summary["backend"], summary["invitations"]
    about = backend.get("about") if isinstance(backend, Mapping) else backend
    print_table(
        f"{summary['scenario']}, seed {summary['seed']}",
        ("figure", "value"),
        [
            ("simulated days", summary["days"]),
            ("scientists", summary["scientists"]),
            (founded, summary["teams"]["founded"]),
            *_nested("teams", {k: v for k, v in summary["teams"].items() if k != "founded"}),
            ("papers", summary["papers"]),
            *((name, _mean(summary[name])) for name in ("HD", "CD", "CI", "ON")),
            ("HD, CD, CI and ON by", summary.get("embedding")),
            ("calls", summary["calls"]["total"]),
            ("inference cost, mean", summary["inference_cost"]["mean"]),
            *(_nested("invitations", invited) if invited["sent"] else ()),
            ("consultations", summary["consultations"] or None),
            ("most teams at once", summary["max_memberships"]),
            ("digest", summary["digest"]),
            ("who spoke", about),
        ],
    )
    stages = list(summary["calls"]["by_stage"].items())
    print_table("calls by stage", ("stage", "calls"), stages)
    cost = list(summary["inference_cost"]["by_stage"].items())
    print_table("inference cost by stage, as VirSci counts it", ("stage", "calls"), cost)
    acts = list(summary["calls"]["by_act"].items())
    print_table("calls by act", ("act", "calls"), acts)
    waited = [(size, days) for size, days in summary["waiting_days"].items()]
    title = "days a team waits for its people, per round"
    print_table(title, ("people", "days"), waited)
    if summary["reading"] is not None:
        print_table(
            "how replies were read", ("rung", "questions", "share"), _rungs(summary["reading"])
        )
    if texts := (summary["reading"] or {}).get("texts"):
        rows = [(form, *counts.values()) for form, counts in texts.items()]
        title = "replies of a model, which nobody has judged"
        print_table(title, ("form", *TEXT_COUNTS), rows)
    if summary["ledger"] is not None and summary["ledger"]["attempts"]:
        print_table("what was asked and paid", ("figure", "value"), _paid(summary["ledger"]))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print one table; columns of numbers are aligned to the right.

    On a terminal it has rules; elsewhere it is plain text with one row a line.
    """
    from rich.box import HEAVY_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    plain = not sys.stdout.isatty()
    rules = None if plain else HEAVY_HEAD
    table = Table(title=None if plain else Text(printable(title)), title_justify="left", box=rules)
    for place, column in enumerate(columns):
        numbers = all(isinstance(row[place], int | float) for row in rows)
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        # As Text: a title or a reason from a model must not be read as markup.
        table.add_row(*(Text(cell(value)) for value in row))
    if plain:
        print(printable(title))
    width = PLAIN_WIDTH if plain and "COLUMNS" not in os.environ else None
    Console(width=width).print(table)


def cell(value: Any) -> str:
    """A value as a table shows it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        if math.isnan(value):
            return "-"
        if math.isinf(value):
            return "∞" if value > 0 else "-∞"
        # Four digits and more would be written as a power of ten.
        is_whole = value == round(value) or abs(value) >= 999.5
        return f"{value:,.0f}" if is_whole else f"{value:,.3g}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def _rungs(reading: Mapping[str, Any]) -> list[tuple[str, int, str]]:
    asked = reading["asked"]
    counts = [*reading["rungs"].items()]
    counts += [(f"verdict: {name}", count) for name, count in reading["verdicts"].items() if count]
    return [(name, count, f"{count / asked:.1%}") for name, count in counts]


def _paid(ledger: Mapping[str, Any]) -> list[tuple[str, Any]]:
    from virsci_society.agents.journal.records import price_words

    rows = [("attempts", ledger["attempts"]), *_nested("attempts", ledger["outcomes"])]
    rows += [
        ("prompt tokens", ledger["prompt_tokens"]),
        ("of them from the provider's cache", ledger["cached_tokens"]),
        ("completion tokens", ledger["completion_tokens"]),
        ("answers with estimated tokens", ledger["estimated"]),
        ("price", price_words(ledger["usd"], ledger["free"])),
    ]
    if ledger["in_doubt"]:
        rows.append(("calls in doubt, perhaps paid twice", len(ledger["in_doubt"])))
        rows.append(("their tokens, at most", ledger["in_doubt_tokens"]))
        rows.append(("their US dollars, at most", ledger["in_doubt_usd"]))
    if ledger.get("cut_off"):
        rows.append(("attempts cut off, cost estimated", ledger["cut_off"]))
        rows.append(("their tokens, estimated, at most", ledger["cut_off_tokens"]))
        rows.append(("their US dollars, estimated, at most", ledger["cut_off_usd"]))
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
