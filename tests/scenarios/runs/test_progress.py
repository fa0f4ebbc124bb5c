"""Progress as lines and as a bar, the overview, the house, and the guard of the commands."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from virsci_society.agents.errors import InputError, SocietyError, Stopped
from virsci_society.scenarios.runs import progress as progress_
from virsci_society.scenarios.runs.progress import (
    BarProgress,
    LineProgress,
    NotebookProgress,
    Pace,
    Progress,
    RunProgress,
    TeamCharts,
    make_progress,
    simulated_date,
)
from virsci_society.scenarios.terminal.arguments import count_repeats, guarded
from virsci_society.scenarios.terminal.console import cell, print_overview, print_table
from virsci_society.society.results.tables import TABLES


def society(**changed: Any) -> Any:
    state = [column.name for column in TABLES["teams"]].index("state")
    row = [None] * len(TABLES["teams"])
    row[state] = "published"  # type: ignore[call-overload]
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
    [
        (0, "2024-01-01"),
        (30.9, "2024-01-31"),
        (31, "2024-02-01"),
        (59, "2024-03-01"),
        (364, "2024-12-31"),
        (365, "2025-01-01"),
        (730, "2026-01-01"),
    ],
)
def test_every_simulated_year_has_365_days(day: float, date: str) -> None:
    assert simulated_date(2024, day) == date


def asking(under_way: int, tokens: int, usd: float) -> Any:
    gateway = SimpleNamespace(under_way=under_way, spent=(tokens, usd))
    return society(dispatcher=SimpleNamespace(gateway=gateway))


def test_a_line_is_share_date_teams_and_calls() -> None:
    state = RunProgress.of(society())
    assert state.line() == "11%; 2024-02-10; day 40 of 365; 1 published, 2 running; 11 calls"
    assert state.sentence() == (
        "2024-02-10 (day 40 of 365, 11%); teams: 1 published, 2 running; calls: 11"
    )


def test_a_line_without_teams() -> None:
    empty = SimpleNamespace(rows={"teams": [], "calls": []})
    state = RunProgress.of(society(world=SimpleNamespace(teams={}), log=empty))
    assert state.line().endswith("no team yet; 0 calls")
    assert state.sentence().endswith("teams: none yet; calls: 0")


def test_years_before_day_0_are_part_of_the_share() -> None:
    assert RunProgress.of(society(first_day=-365.0, day=0.0)).share == 0.5


@pytest.mark.parametrize("width", [80, 66, 40, 24])
def test_a_line_fits_its_columns_and_keeps_what_matters(width: int) -> None:
    line = RunProgress.of(asking(16, 12_345_678, 1234.5)).line("1:02:03 gone, 11:10:09 left", width)
    assert line.startswith("11%; ")
    assert len(line) <= width or width < 32
    if width == 80:
        parts = ("11%", "1:02:03 gone", "11:10:09 left", "11 calls (16 open)", "12.3M tokens")
        assert all(part in line for part in (*parts, "$1,234.50"))


def test_what_is_waited_for_is_told_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress_.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    lines = LineProgress(stream, every=0.0)
    lines.step(society(day=0.0))
    now[0] = 10.0
    lines.step(society(day=73.0))
    now[0] = 20.0
    lines.wait("day 73 of 365; calls: 3 answered, 2 under way")
    assert stream.getvalue().splitlines()[-1] == (
        "0:20 gone, 1:20 left; day 73 of 365; calls: 3 answered, 2 under way"
    )


def test_a_bar_fits_a_terminal_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    bar = BarProgress()
    with bar:
        bar.begin("simulating")
        bar.step(asking(16, 12_345_678, 1234.5))
        bar.wait("day 40 of 365; calls: 3 answered, 2 under way; " + "trouble " * 20)
        (task,) = bar._bar.tasks
        shown, charts = task.description.splitlines()
    assert len(charts) <= 80 - progress_.BAR - 4
    assert charts.startswith("published ")
    assert len(shown) <= 80 - progress_.BAR - 4
    assert shown.endswith("...")
    assert "simulating" not in shown


def state_of(share: float, published: int, running: int) -> RunProgress:
    teams = {"published": published, "running": running}
    return RunProgress("", 0.0, 1.0, share, teams, 0, 0, 0, 0.0)


def test_charts_of_teams_fill_with_simulated_time() -> None:
    history = TeamCharts(steps=10)
    assert history.line("utf-8", 80) == ""
    for share, published, running in ((0.0, 0, 1), (0.1, 0, 4), (0.15, 2, 8), (0.42, 3, 2)):
        history.record(state_of(share, published, running))
    assert history.line("utf-8", 80) == "published ▁█▁▁▅      3  at work ▂███▃      2"
    assert history.line("ascii", 80) == "published _#__+      3  at work .###-      2"
    history.record(state_of(1.0, 3, 0))
    assert history.line("utf-8", 80) == "published ▁█▁▁▅▁▁▁▁▁ 3  at work ▂███▃▃▃▃▃▁ 0"


@pytest.mark.parametrize("width", [20, 40, 66, 146])
def test_charts_of_teams_fit_or_are_left_out(width: int) -> None:
    history = TeamCharts()
    for step in range(61):
        history.record(state_of(step / 60, 1000 * step, step))
    line = history.line("utf-8", width)
    assert len(line) <= width
    assert bool(line) == (width > 40)


@pytest.mark.parametrize(
    ("tokens", "text"), [(999, "999 tokens"), (12_345, "12.3k tokens"), (2_000_000, "2M tokens")]
)
def test_tokens_are_short(tokens: int, text: str) -> None:
    assert text in RunProgress.of(asking(0, tokens, 0.0)).line()


def test_time_left_is_told_once_there_is_something_to_judge_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress_.time, "monotonic", lambda: now[0])
    pace = Pace()
    assert pace.text(0.0, 365.0) == "0:00 gone"
    now[0] = 110.0
    assert pace.text(3.65, 365.0) == "0:10 gone"
    assert pace.text(73.0, 365.0) == "0:10 gone, 0:40 left"
    now[0] = 100.0 + 7200
    assert pace.text(182.5, 365.0) == "2:00:00 gone, 2:00:00 left"
    now[0] += 60
    assert pace.again() == "2:01:00 gone, 2:01:00 left"
    pace.begin()
    assert pace.again() == ""
    assert pace.text(365.0, 365.0) == "0:00 gone"


def test_a_notebook_shows_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    handle = SimpleNamespace(update=lambda line: shown.append(f"again {line!r}"))

    def display(line: object, display_id: bool) -> Any:
        shown.append(repr(line))
        return handle

    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    lines = NotebookProgress(every=0.0)
    lines.begin("simulating")
    lines.step(society())
    assert shown[0] == "simulating"
    assert shown[1].startswith("again 11%; ")
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(make_progress(), NotebookProgress)


def test_lines_are_plain_and_only_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress_.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with LineProgress(stream, every=5) as lines:
        lines.begin("simulating")
        for second in range(13):
            now[0] = float(second)
            lines.step(society(day=float(second)))
        now[0] = 20.0
        lines.count(2000)
        lines.count(3000)
    printed = stream.getvalue().splitlines()
    assert printed[0] == "simulating"
    assert [line.split("; ")[2] for line in printed[1:3]] == ["day 5 of 365", "day 10 of 365"]
    assert printed[2].startswith("3%; 2024-01-11; ")
    assert all(len(line) <= 80 for line in printed)
    assert printed[3:] == ["2,000 records read"]
    assert "\x1b" not in stream.getvalue()


def test_a_rehearsal_tells_what_it_is_of_and_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress_.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    lines = LineProgress(stream, every=5)
    for second in range(13):
        now[0] = float(second)
        lines.rehearse("arm two, turns=3, rehearsal 1", society(day=30.0 * second))
    printed = stream.getvalue().splitlines()
    assert [line[:36] for line in printed] == [
        "arm two, turns=3, rehearsal 1: 41%; ",
        "arm two, turns=3, rehearsal 1: 82%; ",
    ]
    assert all(len(line) <= 80 for line in printed)


def test_what_has_not_changed_is_said_again_every_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress_.time, "monotonic", lambda: now[0])
    stream, printed = io.StringIO(), []
    lines = LineProgress(stream, every=5)
    for second in range(0, 130):
        now[0] = float(second)
        lines.wait("1 question waits" if second < 100 else "2 questions wait")
        printed += [second] * (len(stream.getvalue().splitlines()) - len(printed))
    assert printed == [5, 65, 100]


def test_off_a_terminal_there_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(make_progress(), LineProgress)


def test_on_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = make_progress()
    assert isinstance(bar, BarProgress)
    with bar:
        bar.step(society())
        bar.count(3)
        bar.begin("simulating")
        bar.step(society())
        bar.rehearse("arm two", society())
        bar.count(3)
        bar.begin("writing")


def test_silence_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Progress().begin("x")
    Progress().step(society())
    Progress().rehearse("x", society())
    assert capsys.readouterr() == ("", "")


TOLD: dict[str, Any] = {
    "scenario": "quickstart",
    "seed": 1,
    "days": 365.0,
    "scientists": 60,
    "teams": {"founded": 12, "published": 9, "dissolved": {"[red]too small": 3}},
    "papers": 9,
    "calls": {"total": 1234, "by_stage": {"topic": 1000}, "by_act": {"utterance": 900}},
    "inference_cost": {"per_team": {}, "by_stage": {"topic": 4}, "mean": None, "extra": 0},
    "HD": {"mean": 0.51234, "per_paper": {}},
    "CD": None,
    "CI": None,
    "ON": None,
    "invitations": {"sent": 3},
    "consultations": 2,
    "max_memberships": 2,
    "waiting_days": {"3": 0.25},
    "digest": "0" * 64,
    "partial": None,
    "until": 365.0,
    "reading": None,
    "ledger": None,
    "backend": {"use": "offline", "about": "rule-based scientists, not a language model"},
}


def test_the_overview_shows_every_figure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    print_overview(TOLD)
    printed = capsys.readouterr().out
    for text in ("1,234", "0.512", "utterance", "0.25", "0" * 64, "not a language model"):
        assert text in printed
    assert "teams dissolved: [red]too small" in printed


def test_the_overview_of_another_backend(capsys: pytest.CaptureFixture[str]) -> None:
    print_overview(TOLD | {"backend": "somebody"})
    assert "somebody" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (float("nan"), "-"),
        (3.0, "3"),
        (1234567.0, "1,234,567"),
        (1961.4, "1,961"),
        (0.123456, "0.123"),
        (4321, "4,321"),
        ("x", "x"),
        ("\x1b[31mred\x9b", "\\x1b[31mred\\x9b"),
    ],
)
def test_a_cell_shows_numbers_short_and_texts_harmless(value: object, text: str) -> None:
    assert cell(value) == text


def test_a_table_without_rows(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("nothing", ("a", "b"), [])
    assert "nothing" in capsys.readouterr().out


def code_of(error: BaseException) -> int:
    @guarded
    def command() -> None:
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
def test_what_a_command_raises_is_a_message_and_a_code(
    error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(error) == code
    assert capsys.readouterr().err == message


def test_a_message_that_quotes_a_stranger_moves_no_cursor(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code_of(InputError("first\n\x1b[2Jsecond\x07"))
    assert capsys.readouterr().err == "first\n\\x1b[2Jsecond\\x07\n"


def test_faults_that_differ_in_numbers_only_are_told_once_with_their_count() -> None:
    lines = [*(f"f:{n}: x is missing" for n in range(5)), "", "f:7: other", "f:9: other", ""]
    assert count_repeats(lines) == [
        "f:0: x is missing (and 4 more like it)",
        "",
        "f:7: other",
        "f:9: other",
        "",
    ]


def test_a_fault_of_the_program_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("virsci_society.scenarios.config.outside_code._imported", {})

    @guarded
    def command() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        command()


def test_sigterm_is_taken_like_ctrl_c_and_given_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    seen: Counter[str] = Counter()

    @guarded
    def command() -> None:
        seen["ran"] += 1
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()

    with pytest.raises(typer.Exit) as caught:
        command()
    assert caught.value.exit_code == 5
    assert seen == {"ran": 1}
    assert signal.getsignal(signal.SIGTERM) == before
