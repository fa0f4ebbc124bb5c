"""What the watch page is told of a finished run, of one in progress, and of a study."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from virsci_society import load_scenario
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.live_view import STANDING, SaidText, is_being_written
from virsci_society.scenarios.runs import control
from virsci_society.scenarios.runs.execute import run_scenario
from virsci_society.scenarios.runs.progress import Pace, Progress
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.study.folder import CUT_OFF
from virsci_society.scenarios.study.status import STATES, Status, read_status, write_status
from virsci_society.scenarios.watch.folder_state import (
    RunWatch,
    StudyWatch,
    _newest_abstracts,
    _seconds_left,
)
from virsci_society.society.results.run import Run

HOSTILE = "</script><img src=x onerror=alert(1)>"


def held(folder: Path) -> dict[str, tuple[int, int]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


def test_a_finished_folder_is_told_as_its_tables_say_and_left_as_it_is(small_run: Path) -> None:
    before = held(small_run)
    watch = RunWatch(small_run)
    state = watch.state()
    assert watch.state() == state
    assert held(small_run) == before
    run = Run.open(small_run)
    assert (state["state"], state["day"], state["share"]) == ("finished", 182.0, 1.0)
    assert (state["name"], state["seed"], state["date"]) == ("small", 3, "2024-07-02")
    assert state["papers"] == len(run.table("papers")) > 0
    assert state["calls"] == len(run.table("calls"))
    assert state["defaults"] == 0
    newest = run.table("papers").sort_values("published").iloc[-1]
    assert state["abstracts"][0]["title"] == newest["title"]
    assert state["abstracts"][0]["text"] == newest["abstract"]
    assert state["speaker"] == "rule-based scientists, not a language model"
    assert json.loads(json.dumps(state)) == state


def test_of_a_team_that_revises_its_abstract_the_newest_is_told_and_who_wrote_it() -> None:
    texts = (
        SaidText("Scientist1/2/abstract/2", 9.0, '{"Title": "Later"}', "offline"),
        SaidText("Scientist1/2/abstract/1", 8.0, '{"Title": "Sooner"}', "offline"),
        SaidText("Scientist3/1/abstract/1", 7.0, "A text", "gpt-x"),
    )
    told = _newest_abstracts(texts)
    assert [(one["title"], one["by"]) for one in told] == [("Later", "rules"), ("", "gpt-x")]


@pytest.mark.slow
def test_a_society_without_words_is_drawn_while_it_runs(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(control, "TELL_SECONDS", -1)
    monkeypatch.setattr(control, "TELL_PAUSE", 0)
    watch, seen = RunWatch(tmp_path / "run"), []

    class Looking(Progress):
        def step(self, society) -> None:
            seen.append(watch.state())

    people = {"use": "synthetic", "scientists": 60, "papers": 200}
    scenario = load_scenario("community/assembly", until="1y", population={"ecosystem": people})
    run_scenario(scenario, tmp_path / "run", Looking(), page=False)
    run = Run.open(tmp_path / "run")
    teams, members = run.table("teams"), run.table("members")
    # Each look sees what was noted after the step before.
    state = seen[-1]
    assert 0 < seen[1]["day"] < state["day"] < state["until"] == 365
    assert [one["state"] for one in state["team_states"]] == ["published"]
    assert len(teams) - 5 < state["teams"] <= len(teams)
    together = {
        frozenset((a, b))
        for _, one in members.groupby("team")["scientist"]
        for a in one
        for b in one
        if a != b
    }
    names = [one["name"] for one in state["network"]["people"]]
    drawn = {frozenset((names[a], names[b])) for a, b in state["network"]["ties"]}
    assert drawn
    assert drawn <= together
    founded = teams.set_index("team")["founded"]
    assert all(one["from"] == founded[one["team"]] for one in state["timeline"])
    assert watch.state()["day"] == 365


@pytest.mark.parametrize(
    "note",
    [
        "{",
        "[" * 100_000,
        '{"session": 1, "day": NaN, "states": {}, "teams": []}',
        '{"session": 1, "day": 1e999, "states": {"published": 1}, "teams": []}',
        '{"session": 1, "day": 3, "states": {"published": "many"}, "teams": []}',
        '{"session": 1, "day": 3, "states": {"published": 1}, "teams": [["a/1", NaN, 1, "", []]]}',
        '{"session": 2, "day": 3, "states": {"published": 1}, "teams": []}',
    ],
)
def test_of_a_note_that_no_run_has_written_nothing_is_taken(tmp_path: Path, note: str) -> None:
    with Journal.open(tmp_path / JOURNAL) as journal:
        journal.set_meta(STANDING, note)
    state = RunWatch(tmp_path).state()
    assert (state["day"], state["teams"], state["team_states"]) == (None, 0, [])


def test_the_society_is_drawn_from_the_journal_as_the_tables_say(small_run: Path) -> None:
    state, run = RunWatch(small_run).state(), Run.open(small_run)
    members, calls = run.table("members"), run.table("calls")
    teams = [set(one) for _, one in members.groupby("team")["scientist"]]
    network = state["network"]
    names = [one["name"] for one in network["people"]]
    drawn = {frozenset((names[a], names[b])) for a, b in network["ties"]}
    assert set(names) == set(members["scientist"])
    assert drawn == {frozenset((a, b)) for one in teams for a in one for b in one if a != b}
    assert all(0 <= one["x"] <= 1 and 0 <= one["y"] <= 1 for one in network["people"])
    spans = calls.groupby("team")["asked"].agg(["min", "max"])
    assert {one["team"]: (one["from"], one["to"]) for one in state["timeline"]} == {
        team: pytest.approx((row["min"], row["max"])) for team, row in spans.iterrows()
    }
    latest = calls["asked"].max()
    as_members = ~calls["act"].isin(["invite", "guest"])
    spoke = calls[as_members & (calls["asked"] >= latest - 30)]
    assert dict(state["busy"]) == spoke.groupby("scientist")["team"].nunique().to_dict()


def test_stages_stand_in_the_order_of_the_protocol() -> None:
    watch = RunWatch(Path("nowhere"))
    stages = ("abstract", "a_stage_of_mine", "topic", "selection")
    watch.journal.teams = {stage: (0.0, 1.0, stage) for stage in stages}
    shown = [one["stage"] for one in watch.state()["stages"]]
    assert shown == [
        *("collaborator selection", "topic discussion", "abstract generation", "a_stage_of_mine"),
    ]
    assert watch.fate("topic") == "at the stage of topic discussion"


def test_the_time_left_is_told_from_the_pace_while_something_goes_on(monkeypatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    pace = Pace()
    assert _seconds_left(pace, 0.2) is None
    now[0] = 161.0
    assert _seconds_left(pace, 0.2) is None
    assert _seconds_left(pace, 0.5) == 100
    assert _seconds_left(pace, None) is None
    assert _seconds_left(pace, 0.6) is None


def test_a_folder_without_a_journal_or_with_a_broken_one_is_told(tmp_path: Path) -> None:
    watch = RunWatch(tmp_path / "none")
    assert (watch.state()["state"], watch.state()["calls"]) == ("not begun", 0)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "journal.sqlite").write_bytes(b"no database, but long enough " * 100)
    state = RunWatch(tmp_path / "broken").state()
    assert "cannot be read as a journal" in state["trouble"]


@pytest.mark.parametrize("name", ["journal.sqlite", "manifest.json"])
def test_a_link_is_not_followed(small_run: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(small_run / name)
    state = RunWatch(tmp_path).state()
    assert (state["calls"], state["papers"], state["seed"]) == (0, None, None)
    if name == "journal.sqlite":
        assert "link" in state["trouble"]


def test_the_lock_of_a_journal_is_seen_and_not_taken(tmp_path: Path) -> None:
    from virsci_society.agents.journal.journal import Journal

    path = tmp_path / "journal.sqlite"
    assert not is_being_written(path)
    with Journal.open(path):
        assert is_being_written(path) in (True, None)
    assert not is_being_written(path)


def test_a_study_is_told_by_arm_and_state(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(
        "virsci_society.scenarios.watch.folder_state.read_lock", lambda folder: TWO_ARMS
    )
    for index, state in enumerate(("done", "running", "failed")):
        arm = "small" if index < 2 else "large"
        reason = HOSTILE if state == "failed" else ""
        write_status(tmp_path, Status(index, arm, index % 2, 7, state, reason, tokens=100))
    state = StudyWatch(tmp_path).state()
    assert (state["runs"], state["ended"], state["state"]) == (4, 1, "running")
    named = {one["state"]: one["runs"] for one in state["states"] if one["runs"]}
    assert named == {"done": 1, "running": 1, "failed": 1, "waiting": 1}
    assert [one["arm"] for one in state["arms"]] == ["small", "large"]
    assert state["tokens"] == 300
    assert [one["index"] for one in state["running"]] == [1]
    (why,) = state["reasons"]
    assert (why["index"], why["reason"]) == (2, HOSTILE)


STUDY = """\
study: sizes
base: small.yaml
set: {until: 60d, metrics: []}
arms: {list: [{name: two}, {name: three, set: {protocol.team_size: 3}}]}
replicates: 1
measures: [papers]
comparisons: []
"""


@pytest.mark.slow
def test_a_study_is_told_when_nothing_half_and_all_of_it_is_done(
    small_run: Path, nursery, tmp_path: Path
) -> None:
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "small.yaml").write_bytes((small_run.parent / "small.yaml").read_bytes())
    folder, log = tmp_path / "made", tmp_path / "log"
    command = ("study", "run", tmp_path / "study.yaml", "--out", folder)

    def states(arm: str) -> dict[str, int]:
        (found,) = [
            one["states"] for one in StudyWatch(folder).state()["arms"] if one["arm"] == arm
        ]
        return {name: number for name, number in zip(STATES, found, strict=True) if number}

    assert nursery.run(log, "study", "lock", tmp_path / "study.yaml", "--out", folder)[0] == 0
    state = StudyWatch(folder).state()
    assert (state["name"], state["state"], state["ended"]) == ("sizes", "not running", 0)
    assert nursery.run(log, *command, "--index", "0")[0] == 0
    assert nursery.run(log, *command, "--index", "1", site="writing tables")[0] == -signal.SIGKILL
    before = held(folder)
    state = StudyWatch(folder).state()
    # Its status still says that it is running.
    assert read_status(folder, 1).state == "running"
    assert (state["state"], state["runs"], state["ended"]) == ("not running", 2, 1)
    assert (states("two"), states("three")) == ({"done": 1}, {"stopped": 1})
    (why,) = state["reasons"]
    assert (why["index"], why["reason"]) == (1, CUT_OFF)
    assert held(folder) == before
    assert "no process works on it now" in nursery.society("study", "status", folder).stdout

    assert nursery.run(log, *command)[0] == 0
    state = StudyWatch(folder).state()
    assert (state["state"], state["ended"], state["reasons"]) == ("finished", 2, [])
    assert (states("two"), states("three")) == ({"done": 1}, {"done": 1})
    assert json.loads(json.dumps(state)) == state


class _Lock:
    runs, data = 4, {"study": "sizes"}
    arms: tuple[dict[str, Any], ...] = ({"name": "small"}, {"name": "large"})

    def waiting(self, index: int) -> Status:
        return Status(index, "small" if index < 2 else "large", index % 2, 7)


TWO_ARMS = _Lock()
