"""Charts of ``society show``: on a terminal only, in its width, and none of older folders."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from tests.scenarios.cli.test_app import imported
from virsci_society.metrics.summary_file import read_summary
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.cli.overview import _broken, chart_lines, show, time_series

SERIES: dict[str, Any] = {
    "period": 365 / 12,
    "papers": [0, 0, 1, 4, 2, 0, 0, 0, 0, 1, 0, 0],
    "teams_open": [1.5, 2.25, 8.125, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    "meetings_waiting": [0.0] * 12,
    "giant_share": [None, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75, 1.0],
}
SUMMARY_OF = {"days": 365.0, "series": SERIES}


@pytest.mark.parametrize("width", [80, 160])
def test_charts_have_least_and_largest_values_in_the_width_of_the_terminal(width: int) -> None:
    lines = chart_lines(SUMMARY_OF, "utf-8", width)
    assert lines == [
        "  over time           from 0 up; each column is 30.4 days",
        "  papers              ▁▁▃█▅▁▁▁▁▃▁▁  0 to 4 a month",
        "  teams at work       ▂▃█▂▂▂▂▂▂▂▂▂  1 to 8.12 at a time",
        "  largest component    ▅▅▆▆▆▆▆▆▆▆█  50 to 100 % of those with a tie",
    ]


def test_what_never_happened_has_no_chart() -> None:
    assert [one.name for one in time_series(SUMMARY_OF)] == [
        "papers",
        "teams at work",
        "largest component",
    ]


@pytest.mark.parametrize("width", [58, 66, 80, 160])
def test_long_series_fit(width: int) -> None:
    series = SERIES | {"papers": list(range(60))}
    lines = chart_lines({"days": 1825.0, "series": series}, "ascii", width)
    assert bool(lines) == (width > 62)
    assert all(len(line) <= width and line.isascii() for line in lines)


def test_a_summary_of_an_older_release_has_no_charts() -> None:
    assert chart_lines({"days": 365.0}, "utf-8", 80) == []


def test_lines_are_broken_at_words() -> None:
    line = "  what happened       " + "word " * 20
    parts = _broken(line.rstrip(), 80)
    assert len(parts) == 2
    assert all(len(part) <= 80 for part in parts)
    assert parts[1].startswith(" " * 22 + "word")
    digest = f"  digest              {'5' * 64}"
    assert _broken(digest, 80) == [digest]


class Terminal(io.StringIO):
    """A terminal that keeps what is printed."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """The output, as a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    return Terminal()


@pytest.mark.slow
def test_show_draws_charts_on_a_terminal(
    small_run: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", terminal)
    show(small_run)
    lines = terminal.getvalue().splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("  over time"))
    assert [line[2:22].strip() for line in lines[place + 1 :]][:2] == ["papers", "teams at work"]
    told = [line for line in lines if "digest" not in line and str(small_run) not in line]
    assert all(len(line) <= 80 for line in told)
    show(small_run, full=True)
    full = terminal.getvalue()[sum(len(line) + 1 for line in lines) :]
    assert "papers per person" in full
    assert "█" in full[full.index("over simulated time") :]


def test_a_pipe_gets_figures_and_no_chart(small_run: Path) -> None:
    full = CliRunner().invoke(app, ["show", str(small_run), "--full"]).output
    assert "papers per person" in full
    assert "over simulated time" in full
    assert not set("▁▂▃▄▅▆▇█") & set(full)


@pytest.mark.parametrize("series", [3, {}, {"period": "x"}, SERIES | {"papers": ["a", "b"]}])
def test_show_refuses_series_that_are_none(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, small_run: Path, series: Any
) -> None:
    figures = {**(read_summary(small_run) or {}), "series": series}
    monkeypatch.setattr("virsci_society.metrics.summary_file.read_summary", lambda _: figures)
    monkeypatch.setattr(sys, "stdout", terminal)
    with pytest.raises(typer.Exit) as caught:
        show(small_run)
    assert caught.value.exit_code == 2


def test_show_reads_no_table(small_run: Path) -> None:
    """Modules are counted; with the tables and pandas there are more than 1,000."""
    assert len(imported("show", str(small_run))) < 600
