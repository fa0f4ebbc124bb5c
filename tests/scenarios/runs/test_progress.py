"""Progress as lines and as a bar, the overview, the house, and the guard of the commands."""

import io
import re
import sys
from types import SimpleNamespace

import pytest
import typer

from virsci_society.agents.errors import InputError, SocietyError, Stopped
from virsci_society.scenarios.runs import progress as progress_
from virsci_society.scenarios.runs.progress import (
    ConsoleProgress,
    make_progress,
    simulated_date,
    standing_of,
)
from virsci_society.scenarios.terminal.console import cell
from virsci_society.scenarios.terminal.options import count_repeats, guarded
from virsci_society.society.results.tables import TABLES


def society(**changed):
    state = [column.name for column in TABLES["teams"]].index("state")
    row = [None] * len(TABLES["teams"])
    row[state] = "published"
    answer = SimpleNamespace(calls=[1, 2])
    team = SimpleNamespace(state="running", answers=[answer])
    default = {
        "day": 40.0,
        "until": 365.0,
        "ecosystem": SimpleNamespace(boundary=2024),
        "world": SimpleNamespace(teams={"a": team, "b": team}),
        "log": SimpleNamespace(rows={"teams": [tuple(row)], "calls": [()] * 7}),
        "first_day": 0.0,
        "dispatcher": SimpleNamespace(gateway=SimpleNamespace(under_way=0, spent=(0, 0.0))),
    }
    return SimpleNamespace(**(default | changed))


@pytest.mark.parametrize(
    ("day", "date"),
    [(0, "2024-01-01"), (31, "2024-02-01"), (364, "2024-12-31"), (730, "2026-01-01")],
)
def test_every_simulated_year_has_365_days(day, date):
    assert simulated_date(2024, day) == date


def test_how_far_a_society_has_come_is_one_sentence():
    assert standing_of(society()) == (
        "2024-02-10 (day 40 of 365, 11% of simulated time); "
        "teams: 1 published, 2 running; calls: 11"
    )
    empty = SimpleNamespace(rows={"teams": [], "calls": []})
    told = standing_of(society(world=SimpleNamespace(teams={}), log=empty, first_day=-40.0), 7)
    assert told.endswith("20% of simulated time); teams: none yet; calls: 7")


@pytest.fixture
def clock(monkeypatch):
    """The time that progress sees, to be set."""
    now = [0.0]
    monkeypatch.setattr(progress_, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_off_a_terminal_there_are_plain_lines_now_and_then(clock):
    stream = io.StringIO()
    with ConsoleProgress(stream, every=5) as lines:
        lines.begin("simulating")
        for clock[0] in range(0, 61):
            lines.step(society(day=float(clock[0])))
        clock[0] = 70.0
        lines.wait("day 60 of 365; calls: 3 answered, 2 under way")
        lines.begin("reading")
        clock[0] = 80.0
        lines.count(2000)
        lines.count(3000)
    printed = stream.getvalue().splitlines()
    assert printed[0] == "simulating"
    assert printed[1].startswith("0:00:05 elapsed; 2024-01-06 (day 5 of 365, 1% of simulated ti")
    assert printed[12].startswith("0:01:00 elapsed, about 0:05:05 left; 2024-03-02 (day 60 of 365,")
    assert printed[13:] == [
        "0:01:10 elapsed, about 0:05:56 left; day 60 of 365; calls: 3 answered, 2 under way",
        "reading",
        "2,000 records read",
    ]
    assert "\x1b" not in stream.getvalue()


def test_a_rehearsal_tells_what_it_is_of_and_how_far_it_is(clock):
    stream = io.StringIO()
    lines = ConsoleProgress(stream, every=5)
    for clock[0] in range(13):
        lines.step(society(day=30.0 * clock[0]), of="arm two, turns=3")
    printed = [line.partition("; ")[2] for line in stream.getvalue().splitlines()]
    assert [line[:50] for line in printed] == [
        "arm two, turns=3: 2024-05-31 (day 150 of 365, 41% ",
        "arm two, turns=3: 2024-10-28 (day 300 of 365, 82% ",
    ]


def test_on_a_terminal_there_is_a_bar(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", Terminal())
    gateway = SimpleNamespace(under_way=16, spent=(12_345_678, 1234.5))
    with make_progress() as progress:
        progress._every = 0.0
        progress.begin("simulating")
        progress.step(society(dispatcher=SimpleNamespace(gateway=gateway)))
        progress._bar.refresh()
        progress.count(3)
        progress.wait("no\x1b[2Jcontrol")
        progress._bar.refresh()
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sys.stderr.getvalue())
    assert "16 under way; " in shown
    assert "12,345,678 tokens; $1,234.50" in shown
    assert "no\\x1b[2Jcontrol" in shown
    assert all(len(line) <= 80 for line in re.split("[\r\n]", shown))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (1234567.0, "1,234,567"),
        (1961.4, "1,961"),
        (0.123456, "0.123"),
        ("x", "x"),
        ("\x1b[31mred\x9b", "\\x1b[31mred\\x9b"),
    ],
)
def test_a_cell_shows_numbers_short_and_texts_harmless(value, text):
    assert cell(value) == text


def code_of(error):
    @guarded
    def command():
        raise error

    with pytest.raises(typer.Exit) as caught:
        command()
    return caught.value.exit_code


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("seed: wrong"), 2, "seed: wrong\n"),
        (Stopped("no answer"), 5, "stopped: no answer\nthe same command resumes it\n"),
        (KeyboardInterrupt(), 5, "interrupted; the same command resumes it\n"),
        (SocietyError("else"), 1, "else\n"),
    ],
)
def test_what_a_command_raises_is_a_message_and_a_code(error, code, message, capsys):
    assert code_of(error) == code
    assert capsys.readouterr().err == message


def test_faults_that_differ_in_numbers_only_are_told_once_with_their_count():
    lines = [*(f"f:{n}: x is missing" for n in range(5)), "", "f:7: other", "f:9: other", ""]
    assert count_repeats(lines) == [
        "f:0: x is missing (and 4 more like it)",
        "",
        "f:7: other",
        "f:9: other",
        "",
    ]
