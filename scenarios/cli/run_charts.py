"""Charts for a terminal of what happened in a run over simulated time, in one line each."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from virsci_society.scenarios.runs.text_charts import sparkline

LABEL = 22
"""Columns before the text of each line of ``society show``."""
LEAST_COLUMNS = 8
"""Columns below which a chart is left out."""
MOST_COLUMNS = 60


@dataclass(frozen=True, slots=True)
class TimeSeries:
    """One series of a summary.

    Attributes:
        name: what is counted.
        unit: of the values, as it stands behind them.
        values: one for each period; None where there is none.
        percent: the values are shares, shown in per cent.
    """

    name: str
    unit: str
    values: Sequence[float | None]
    percent: bool = False

    def figure(self, value: float | None) -> str:
        """A value without its unit."""
        if value is None:
            return "-"
        return f"{100 * value:.0f}" if self.percent else f"{value:,.3g}"

    def figures(self) -> str:
        """Such as ``0 to 4 a month``: the least and the largest value, with the unit."""
        least, most = (self.figure(end) for end in self.ends())
        return f"{most} {self.unit}" if least == most else f"{least} to {most} {self.unit}"

    def ends(self) -> tuple[float, float]:
        """The least and the largest value; there is at least one."""
        known = [value for value in self.values if value is not None]
        return min(known), max(known)


def time_series(summary: Mapping[str, Any]) -> list[TimeSeries]:
    """The series of a summary that have a value above 0; none in files of older releases.

    Args:
        summary: from ``metrics.summarise_run``.
    """
    series = summary.get("series")
    if series is None:
        return []
    every = _period(float(series["period"]))
    found = [
        TimeSeries("papers", f"a {every}", series["papers"]),
        TimeSeries("teams at work", "at a time", series["teams_open"] or ()),
        TimeSeries("meetings waiting", "at a time", series["meetings_waiting"] or ()),
        TimeSeries(
            "largest component", "% of those with a tie", series["giant_share"], percent=True
        ),
    ]
    return [one for one in found if any(value for value in one.values)]


def _period(days: float) -> str:
    """A period in words: day, week, month or so many months."""
    if days <= 7:
        return "day" if days < 7 else "week"
    months = round(days * 12 / 365)
    return "month" if months <= 1 else f"period of {months} months"


def chart_lines(summary: Mapping[str, Any], encoding: str | None, width: int) -> list[str]:
    """A line for each series: its name, its chart, its least and largest value.

    Args:
        summary: from ``metrics.summarise_run``.
        encoding: of the terminal.
        width: of the terminal, in columns.

    Returns:
        No line where there is no series, or not enough room.
    """
    found = time_series(summary)
    if not found:
        return []
    room = width - LABEL - 2 - max(len(one.figures()) for one in found)
    columns = min(room, MOST_COLUMNS, max(len(one.values) for one in found))
    if room < LEAST_COLUMNS:
        return []
    step = float(summary["days"]) / max(columns, 1)
    head = f"  {'over time':20}from 0 up; each column is {step:.3g} days"
    lines = [
        f"  {one.name:20}{sparkline(one.values, encoding, columns):{columns}}  {one.figures()}"
        for one in found
    ]
    return [head, *lines]


def print_charts(summary: Mapping[str, Any]) -> None:
    """Print the series and the papers per person as tables; on a terminal with charts.

    Args:
        summary: from ``metrics.summarise_run``.
    """
    from virsci_society.scenarios.terminal.console import print_table

    found = time_series(summary)
    if found:
        columns: tuple[str, ...] = ("what", "least", "most", "last", "unit")
        rows = [(one.name, *_figures(one), one.unit) for one in found]
        if sys.stdout.isatty():
            columns = (*columns, "")
            room = terminal_width() - 76
            width = min(max(room, LEAST_COLUMNS), MOST_COLUMNS)
            charts = [sparkline(one.values, sys.stdout.encoding, width) for one in found]
            rows = [(*row, chart) for row, chart in zip(rows, charts, strict=True)]
        print_table("over simulated time", columns, rows)
    if summary.get("papers_per_person") is not None:
        people = list(summary["papers_per_person"].items())
        print_table("papers per person", ("papers", "scientists"), people, bars=True)


def _figures(series: TimeSeries) -> list[str]:
    return [series.figure(value) for value in (*series.ends(), series.values[-1])]


def terminal_width() -> int:
    """Columns of the terminal."""
    return shutil.get_terminal_size().columns
