"""Whoever pauses, slows, bounds or stops a run from outside changes none of its results (R14)."""

from __future__ import annotations

import json
import os
import random
import time
from functools import partial

import pytest

from tests.faultserver import Plan
from tests.promises.conftest import attempts_in, digest_of, honest_run
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.journal.live_view import read_notes
from virsci_society.scenarios.runs.control import (
    CONTROL,
    Control,
    taken_over,
    write_control,
)
from virsci_society.scenarios.runs.run_state import read_state


@pytest.fixture(scope="module")
def undisturbed(nursery, server, ecosystem, tmp_path_factory):
    """The digest of the run that nobody controls."""
    return digest_of(honest_run(nursery, server, ecosystem, tmp_path_factory.mktemp("honest")))


def until(holds):
    """Wait until something holds, two minutes at most."""
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Begun:
    """A run of the three teams against a server that takes its time."""

    def __init__(self, nursery, server, scenario, tmp_path, latency=0.1, **changes):
        server.reset()
        server.plan(Plan(latency=latency))
        self.folder, self.log = tmp_path / "run", tmp_path / "log"
        self.command = ("run", scenario(**changes), "--out", self.folder)
        self.nursery, self.server = nursery, server
        self.pid = nursery.start(self.log, *self.command)

    def asked(self):
        """Requests that have come to the server."""
        return self.server.counts()["requests"]

    def ctl(self, *words):
        """``society ctl`` of the run; gives its exit code and what it said."""
        told = self.nursery.society("ctl", self.folder, *words)
        return told.returncode, told.stdout + told.stderr

    def end(self):
        """Wait for its end; gives its exit code."""
        return self.nursery.wait(self.pid)[0]


@pytest.fixture
def begun(nursery, server, scenario, tmp_path):
    """Begin a run and wait until it has asked something."""
    made = []

    def begin(**changes):
        run = Begun(nursery, server, scenario, tmp_path, **changes)
        made.append(run)
        until(lambda: run.asked() >= 3)
        return run

    yield begin
    server.plan(Plan())


def test_a_paused_run_asks_nothing_and_goes_on_to_the_same_digest(begun, undisturbed, promise):
    run = begun()
    assert run.ctl("pause") == (0, f"{run.folder}: paused\n")
    until(lambda: run.server.counts()["under_way"] == 0)
    asked = run.asked()
    time.sleep(1)
    assert run.asked() == asked
    assert read_state(run.folder).words == "running: paused (by 'society ctl')"
    assert run.ctl() == (0, f"{run.folder}: paused\n")
    assert run.ctl("resume") == (0, f"{run.folder}: as its scenario says\n")
    assert run.end() == 0, run.log.read_text()
    assert run.asked() > asked
    assert digest_of(run.folder) == undisturbed
    assert not (run.folder / CONTROL).exists()
    promise("R14", "runs that were paused and ended in the same digest", 1)


@pytest.mark.slow
def test_a_run_of_rules_stands_still_as_well(nursery, tmp_path, promise):
    def command(folder):
        settings = ("--set", "until=2y", "--set", "metrics=[]")
        return ("run", "community/assembly", *settings, "--out", folder)

    assert nursery.run(tmp_path / "log", *command(tmp_path / "other"))[0] == 0
    pid = nursery.start(tmp_path / "log", *command(tmp_path / "run"))
    until(lambda: (tmp_path / "run" / "journal.sqlite.lock").exists())
    write_control(tmp_path / "run", Control(paused=True))

    # Written before the session began it is removed, so it is said again until it is heard.
    def heard():
        write_control(tmp_path / "run", Control(paused=True))
        return "paused" in read_state(tmp_path / "run").words

    until(heard)
    until(lambda: "paused on day" in (tmp_path / "log").read_text())
    assert nursery.society("ctl", tmp_path / "run", "resume").returncode == 0
    assert nursery.wait(pid)[0] == 0
    assert digest_of(tmp_path / "run") == digest_of(tmp_path / "other")
    promise("R14", "runs that were paused and ended in the same digest", 1)


def test_what_is_said_while_a_run_prepares_holds_from_its_first_call(
    nursery, server, scenario, tmp_path, undisturbed
):
    server.reset()
    server.plan(Plan())
    run, log = tmp_path / "run", tmp_path / "log"
    # Its preparation lasts until it is told to go on.
    code = (
        "import time; from pathlib import Path\n"
        "from virsci_society.scenarios.runs import build\n"
        "made = build.build_society\n"
        "def slow(*given):\n"
        f"    while not Path({str(tmp_path / 'go')!r}).exists(): time.sleep(0.02)\n"
        "    return made(*given)\n"
        "build.build_society = slow"
    )
    command = ("run", scenario(), "--out", run)
    pid = nursery.start(log, *command, before=code)
    until(lambda: (run / "journal.sqlite.lock").exists())
    until(lambda: read_state(run).session == 1)
    told = nursery.society("ctl", run, "pause")
    assert (told.returncode, "paused, as soon as it simulates" in told.stdout) == (0, True)
    (tmp_path / "go").touch()
    until(lambda: "paused" in read_state(run).words)
    assert server.counts()["requests"] == 0
    assert nursery.society("ctl", run, "resume").returncode == 0
    assert nursery.wait(pid)[0] == 0, log.read_text()
    assert digest_of(run) == undisturbed


def test_slots_are_followed_up_and_down(begun, undisturbed):
    run = begun()
    assert run.ctl("--slots", "1") == (0, f"{run.folder}: slots 1\n")
    until(lambda: run.server.counts()["under_way"] <= 1)
    before = run.server.counts()["most_at_once"]
    run.server.reset()
    until(lambda: run.asked() >= 5)
    assert run.server.counts()["most_at_once"] == 1
    run.server.reset()
    assert run.ctl("--slots", "8")[0] == 0
    assert run.end() == 0, run.log.read_text()
    assert before > 1
    assert digest_of(run.folder) == undisturbed


@pytest.mark.slow
def test_a_smaller_budget_stops_and_a_larger_one_goes_on(begun, undisturbed):
    run = begun()
    assert run.ctl("--budget", "calls=12")[0] == 0
    assert run.end() == 4, run.log.read_text()
    assert "--set backend.budget.calls" in run.log.read_text()
    answered = sum(one.outcome == "answered" for one in attempts_in(run.folder))
    assert answered <= 12
    # The next session follows its scenario, which has no budget.
    assert run.nursery.run(run.log, *run.command)[0] == 0
    assert digest_of(run.folder) == undisturbed


def test_a_stopped_run_says_so_and_goes_on(begun, undisturbed, promise):
    run = begun()
    code, told = run.ctl("stop")
    assert (code, told) == (0, f"{run.folder}: stopping\n")
    assert run.end() == 5
    state = read_state(run.folder)
    assert (state.state, "society ctl" in state.reason) == ("stopped by user", True)
    assert run.nursery.run(run.log, *run.command)[0] == 0
    assert digest_of(run.folder) == undisturbed
    promise("R14", "runs that were stopped by the command and ended in the same digest", 1)


@pytest.mark.slow
def test_what_cannot_be_is_refused_and_the_run_goes_on(begun, undisturbed):
    run = begun(latency=0.5)
    code, told = run.ctl("--budget", "usd=3")
    assert code == 2
    assert "the price of the model is not known; give a budget in tokens" in told
    assert run.ctl("--budget", "token=3")[0] == 2
    code, told = run.ctl("--budget", "tokens=many")
    assert code == 2
    assert "Traceback" not in told
    # A stranger's file, in a folder that others can write to.
    for text in ("no JSON", '{"paused": "yes"}', '{"slots": 0}', "[" * 10_000):
        (run.folder / CONTROL).write_text(text)
        time.sleep(0.7)
    (run.folder / CONTROL).unlink()
    (run.folder / CONTROL).symlink_to("/etc/passwd")
    assert run.end() == 0, run.log.read_text()
    assert digest_of(run.folder) == undisturbed
    assert not os.path.lexists(run.folder / CONTROL)
    code, told = run.ctl("pause")
    assert (code, "is not going on (finished)" in told) == (2, True)
    assert run.nursery.society("ctl", run.folder / "none", "pause").returncode == 2


MORE = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 21)]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", [1, 2, *MORE])
def test_control_at_random_moments_changes_nothing(begun, undisturbed, seed, promise):
    dice = random.Random(seed)
    run = begun(latency=0.02)
    orders = 0
    while read_state(run.folder).state == "running":
        time.sleep(dice.random())
        paused = dice.random() < 0.4
        write_control(run.folder, Control(paused=paused, slots=dice.randint(1, 12)))
        orders += 1
        if orders > 15:
            write_control(run.folder, Control())
            break
    assert run.end() == 0, run.log.read_text()
    assert digest_of(run.folder) == undisturbed
    promise("R14", "orders at random moments that changed no digest", orders)


@pytest.mark.slow
def test_a_study_pauses_stops_and_goes_on(nursery, server, scenario, tmp_path):
    server.reset()
    server.plan(Plan(latency=0.1))
    study = tmp_path / "study.yaml"
    arms = {"grid": {"protocol.team_size": [2, 3]}}
    told = {"study": "two sizes", "base": str(scenario()), "arms": arms, "replicates": 2}
    study.write_text(json.dumps(told | {"measures": ["papers"]}), encoding="utf-8")
    folder, log = tmp_path / "study", tmp_path / "log"
    command = ("study", "run", study, "--out", folder, "--together", "2")
    pid = nursery.start(log, *command)
    until(lambda: server.counts()["requests"] >= 4)
    assert nursery.society("ctl", folder, "pause").returncode == 0
    for index in ("0000", "0002"):  # the first replicate of both arms
        until(lambda index=index: "paused" in read_state(folder / "runs" / index).words)
    until(lambda: server.counts()["under_way"] == 0)
    asked = server.counts()["requests"]
    time.sleep(1)
    assert server.counts()["requests"] == asked
    for one in (folder, folder / "runs" / "0000"):
        refused = nursery.society("ctl", one, "--budget", "calls=3")
        assert (refused.returncode, "share its budget" in refused.stderr) == (2, True)
    # Nor by the file itself: the run's bound is its share of the study's budget.
    write_control(folder / "runs" / "0000", Control(budget=Budget(calls=3)))
    note = partial(read_notes, folder / "runs" / "0000" / "journal.sqlite")
    until(lambda: "share its budget" in taken_over(note())["refused"])
    assert nursery.society("ctl", folder, "stop").returncode == 0
    assert nursery.wait(pid)[0] == 5, log.read_text()
    server.plan(Plan())
    assert nursery.run(log, *command)[0] == 0, log.read_text()
    assert not (folder / CONTROL).exists()
    assert nursery.run(log, *command[:3], "--out", tmp_path / "other")[0] == 0, log.read_text()
    for index in range(4):
        one, other = (place / "runs" / f"{index:04d}" for place in (folder, tmp_path / "other"))
        assert digest_of(one) == digest_of(other)
