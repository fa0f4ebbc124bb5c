"""The state of a run from its folder: which facts decide it, and what a stranger may have put."""

import json
import shutil
import signal

import pytest

from virsci_society.agents.errors import BudgetReached, Diverged, InputError, Interrupted, Stopped
from virsci_society.agents.journal.journal import Journal
from virsci_society.scenarios.runs import run_state
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.runs.run_state import (
    SNAPSHOT,
    judge_state,
    list_runs,
    open_run,
    read_state,
    recorded_end,
)


def sessions(number):
    return {"ledger": {"sessions": [{"session": number}]}}


def notes(session, ended=0, signed=0, state="stopped by user"):
    held = {"session": str(session), "sessions": json.dumps([{"session": signed or session}])}
    if ended:
        held["ended"] = json.dumps({"session": ended, "state": state, "reason": "why", "stood": ""})
    return held


@pytest.mark.parametrize(
    ("manifest", "part", "noted", "writing", "state"),
    [
        ({}, {}, notes(1), True, "running"),
        (sessions(1), {}, notes(2), True, "running"),
        ({}, {}, notes(1), False, "killed"),
        ({}, {}, {}, False, "killed"),
        ({}, {}, notes(1), None, "running or killed"),
        ({}, {}, notes(1, ended=1), False, "stopped by user"),
        ({}, sessions(1), notes(2, ended=1), False, "killed"),
        ({}, {"partial": "why", **sessions(2)}, notes(2), False, "stopped"),
        ({}, {"partial": SNAPSHOT, **sessions(2)}, notes(2), False, "killed"),
        ({"seed": 1}, {}, {}, False, "finished"),
        (sessions(2), {}, notes(2, ended=2, state="finished"), False, "finished"),
        # The scenario had changed: the second session has signed nothing and left the results.
        (sessions(1), {}, notes(2, ended=2, signed=1, state="failed"), False, "finished"),
        (sessions(1), {}, notes(2), False, "killed"),
        # A stranger's.
        ({"ledger": "x"}, {}, {"sessions": "[[", "session": "x", "ended": "[]"}, False, "finished"),
        ({}, {}, {"sessions": "[1]", "session": "[]", "ended": "3"}, False, "killed"),
    ],
)
def test_what_decides_the_state(manifest, part, noted, writing, state):
    assert judge_state(manifest, part, noted, writing)[0] == state


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (BudgetReached("the budget is reached"), "stopped by budget"),
        (Interrupted("interrupted by SIGTERM"), "stopped by user"),
        (KeyboardInterrupt(), "stopped by user"),
        (Stopped("no credit"), "stopped"),
        (Diverged("other words"), "failed"),
        (InputError("no such file"), "failed"),
        (ZeroDivisionError("by zero"), "failed"),
    ],
)
def test_an_end_is_noted_in_the_journal_with_its_reason(error, state, tmp_path):
    error.add_note("progress: day 3")
    with Journal(tmp_path / JOURNAL) as journal:
        assert read_state(tmp_path).state == "running"
        with pytest.raises(type(error)), recorded_end(journal):
            raise error
    told = read_state(tmp_path)
    assert (told.state, told.reason, told.stood) == (state, str(error), "progress: day 3")
    assert (told.session, told.calls, told.answered) == (1, 0, 0)
    with Journal(tmp_path / JOURNAL):
        pass  # a session that was killed leaves no note
    assert (read_state(tmp_path).state, read_state(tmp_path).session) == ("killed", 2)


def test_a_secret_in_a_reason_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(run_state, "redact", lambda text: text.replace("sk-1", "..."))
    with Journal(tmp_path / JOURNAL) as one, pytest.raises(Stopped), recorded_end(one):
        raise Stopped("the key sk-1 was not accepted")
    assert read_state(tmp_path).reason == "the key ... was not accepted"


def test_a_journal_that_cannot_be_written_keeps_the_error(tmp_path):
    def lost():
        raise Stopped("the lease was lost")

    with Journal(tmp_path / JOURNAL):
        pass
    journal = Journal(tmp_path / JOURNAL)
    journal._fence = lost
    with pytest.raises(Stopped, match="lease"), recorded_end(journal):
        raise Stopped("the lease was lost")
    journal.close()


def test_a_disk_without_room_for_the_note_of_the_end_fails_no_finished_run(tmp_path, monkeypatch):
    def full(self, notes):
        raise Stopped("no space left on device")

    with Journal(tmp_path / JOURNAL) as journal:
        monkeypatch.setattr(Journal, "set_meta", full)
        with recorded_end(journal):
            (tmp_path / "manifest.json").write_text("{}")


def test_a_run_without_a_model_that_was_killed_is_shown(offline_nursery, here, small_text):
    run = here / "run"
    (here / "small.yaml").write_text(small_text, encoding="utf-8")
    code, _ = offline_nursery.run(
        here / "log", "run", "small.yaml", "--out", "run", site="writing results", nth=2
    )
    assert code == -signal.SIGKILL, (here / "log").read_text(encoding="utf-8")
    assert read_state(run).state == "killed"
    shown = offline_nursery.society("show", "run")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "killed: no end of session" in shown.stdout
    assert "repeating answered calls: society run small.yaml --out run\n" in shown.stdout
    told = json.loads(offline_nursery.society("show", "run", "--json").stdout)
    assert told["state"] == "killed"
    for command in (("export", "page"), ("explore",), ("transcript",)):
        done = offline_nursery.society(*command, "run")
        assert done.returncode == 2
        assert "run: nothing to show yet (killed" in done.stderr
    assert offline_nursery.run(here / "log", "run", "small.yaml", "--out", "run")[0] == 0
    assert read_state(run).state == "finished"


def test_a_part_is_told_as_its_run_and_with_the_costs_of_now(here, small_run):
    run, part = here / "run", here / "run" / "partial"
    shutil.copytree(small_run, part)
    (part / "hashes.json").unlink()
    held = json.loads((part / "manifest.json").read_text(encoding="utf-8"))
    del held["hashes"]
    held |= {"partial": "the budget is reached", "ledger": {"usd": 9.0}}
    (part / "manifest.json").write_text(json.dumps(held), encoding="utf-8")
    shutil.move(part / JOURNAL, run / JOURNAL)
    with Journal(run / JOURNAL):
        pass
    for folder in (run, part):
        opened, state = open_run(folder)
        assert (state.state, opened.manifest["state"]) == ("killed", "killed")
        assert (
            opened.partial
            == "no end of session 2 is recorded, and no process on this machine is working on it"
        )
        assert opened.manifest["ledger"]["usd"] == 0.0
    assert [one.state for one in list_runs(here)] == ["killed"]
