"""Tables for a terminal, and the opening of a run to be shown."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from virsci_society.agents.spelling import printable

if TYPE_CHECKING:
    from pathlib import Path

    from virsci_society.society.results.run import Run

PLAIN_WIDTH = 1000
"""Columns of a table that is piped, so that no cell is broken."""


def open_to_show(folder: Path) -> Run:
    """Open a run or its partial results; for these a line on stderr says how the run ended."""
    from virsci_society.scenarios.runs.run_state import FINISHED, RUNNING, open_run, resume_hint

    run, state = open_run(folder)
    if run.partial is not None:
        days = f"{run.folder}: not finished; its world up to day {run.days:g}"
        now = f", now at {state.stood}" if state.state == RUNNING and state.stood else ""
        print(printable(f"{days} ({state.words}{now})"), file=sys.stderr)
        if state.state != RUNNING:
            print(printable(resume_hint(state)), file=sys.stderr)
    elif state.state != FINISHED:
        later = f"{folder}: showing the finished run; latest session: {state.words}"
        print(printable(later), file=sys.stderr)
    return run


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print one table: on a terminal with rules, elsewhere as plain text with one row a line."""
    from rich.box import HEAVY_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    plain = not sys.stdout.isatty()
    rules = None if plain else HEAVY_HEAD
    table = Table(title=None if plain else Text(printable(title)), title_justify="left", box=rules)
    for index, column in enumerate(columns):
        numbers = all(isinstance(row[index], int | float) for row in rows)
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
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(cell, value)) or "-"
    if isinstance(value, float):
        if math.isnan(value):
            return "-"
        if math.isinf(value):
            return "∞" if value > 0 else "-∞"
        # Four digits and more would be written as a power of ten.
        is_whole = value == round(value) or abs(value) >= 999.5
        return f"{value:,.0f}" if is_whole else f"{value:,.3g}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))
