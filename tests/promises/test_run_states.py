"""However a run ends, every command and page tells the same state and counts of it."""

import json
import os
import re
import shlex
import signal
from pathlib import Path

import pytest

from tests.faultserver import Plan
from tests.promises.conftest import reset
from virsci_society.scenarios.runs.run_state import read_state

PRICES = {"backend.prices": {"input": 1.0, "output": 2.0}}
POOR = {**PRICES, "backend.budget": {"tokens": 30_000}}
ENDS = {
    "finished": "finished",
    "budget": "stopped by budget",
    "signal": "stopped by user",
    "key": "stopped",
    "error": "failed",
    "killed": "killed",
    "killed after budget": "killed",
    "killed after finish": "killed",
}
"""State by how a run is brought to its end."""


def bring_about(end, nursery, server, scenario, tmp_path):
    """Run the teams to this end; gives the run folder and what the last command has printed."""
    server.plan(
        Plan(rates={"unauthorised": 1.0}, streak=9999, from_n=20) if end == "key" else Plan()
    )
    server.reset()
    run, log = tmp_path / "run", tmp_path / "log"
    changes = POOR if "budget" in end else PRICES
    short = {"until": "20d"} if end == "killed after finish" else {}
    command = ("run", scenario(**changes, **short), "--out", run)
    how = {"site": "after commit", "nth": 20} if end == "killed" else {}
    if end == "error":
        how = {"before": BROKEN}
    if end == "signal":
        server.plan(Plan(latency=0.05))
        pid = nursery.start(log, *command)
        while server.counts()["requests"] < 15:
            pass
        os.kill(pid, signal.SIGINT)
        code = nursery.wait(pid)[0]
    else:
        code = nursery.run(log, *command, **how)[0]
    if end.startswith("killed after"):
        later = ("run", scenario(**PRICES), "--out", run)
        code = nursery.run(log, *later, site="after commit", nth=5)[0]
    told = log.read_text(encoding="utf-8")
    codes = {"finished": 0, "budget": 4, "signal": 5, "key": 5, "error": 1}
    assert code == codes.get(end, -signal.SIGKILL), told
    return run, told


BROKEN = """
from virsci_society.agents.gateway.attempt import Attempts
made = Attempts.make
seen = [0]
async def make(self, *given):
    seen[0] += 1
    if seen[0] == 20:
        raise RuntimeError("a fault of the program")
    return await made(self, *given)
Attempts.make = make
"""


FAST = ("finished", "signal", "killed after budget")


def some(ends):
    """The ends as parameters; all but three are slow."""
    return [pytest.param(end, marks=() if end in FAST else pytest.mark.slow) for end in ends]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("end", some(ENDS))
def test_every_reader_tells_the_same_of_a_run(end, nursery, server, scenario, tmp_path):
    run, told = bring_about(end, nursery, server, scenario, tmp_path)
    state, server_counts = read_state(run), server.counts()
    assert state.state == ENDS[end]
    shown = nursery.society("show", run)
    assert shown.returncode == 0, shown.stderr
    listed = json.loads(nursery.society("list", "runs", run, "--json").stdout)
    assert listed == [state.to_data()]
    checked = nursery.society("doctor", run)
    assert checked.returncode == 0, checked.stderr
    assert f"{run}: {state.sentence()}\n" in checked.stdout
    answers = server_counts["answers"]
    if end in ("finished", "budget", "error"):  # nothing was cut off, so the server knows it all
        tokens = server_counts["prompt_tokens"] + server_counts["completion_tokens"]
        assert (state.tokens, state.answered or answers) == (tokens, answers)
    cost = f"{state.tokens:,} tokens in {state.calls:,} attempts"
    assert cost in checked.stdout
    if end != "killed after finish":  # the figures of what has finished are those of its end
        assert cost in shown.stdout
    if end in ("budget", "signal", "key"):
        assert f"calls: {state.answered:,}; paid so far: {cost}" in told
        assert state.stood in told
    if state.state not in ("finished", "stopped"):
        assert state.state in shown.stdout + shown.stderr
        if end in ("budget", "signal", "killed after budget"):
            page = nursery.society("export", "page", run, page=True)
            html = (run / "partial" / "report.html").read_text(encoding="utf-8")
            assert (page.returncode, f"The run was {state.state}: " in html) == (0, True)


def test_a_budget_that_is_reached_prints_one_command_that_goes_on(
    nursery, server, scenario, tmp_path
):
    reset(server)
    path, run, log = scenario(**PRICES), tmp_path / "run", tmp_path / "log"
    command = ["run", path, "--out", run, "--set", "backend.budget.tokens=30000"]
    assert nursery.run(log, *command)[0] == 4
    told = log.read_text(encoding="utf-8")
    # What it says is spent is all that is spent: nothing was asked for after it.
    spent = int(re.search(r"(\d+) of 30000 tokens are spent", told)[1])
    assert f"paid so far: {spent:,} tokens" in told
    assert spent == sum(map(sum, server.counts()["tokens"].values()))
    (resume_hint,) = re.findall(r"resumes it: society (.*)", told)
    assert told.count("--set backend.budget.tokens=") == 1
    before = server.counts()["requests"]
    for _ in range(9):
        code = nursery.run(log, *shlex.split(resume_hint))[0]
        assert server.counts()["requests"] > before, "the command stopped again at once"
        if code == 0:
            break
        before = server.counts()["requests"]
        resume_hint = re.findall(r"resumes it: society (.*)", log.read_text(encoding="utf-8"))[-1]
    assert read_state(run).state == "finished"
    assert server.counts()["repeated_answers"] == 0


@pytest.mark.parametrize("end", some(["budget", "killed", "killed after budget"]))
def test_a_run_that_was_ended_goes_on_to_its_end(end, nursery, server, scenario, tmp_path):
    run, _ = bring_about(end, nursery, server, scenario, tmp_path)
    assert nursery.run(tmp_path / "log", "run", scenario(**PRICES), "--out", run)[0] == 0
    assert (read_state(run).state, read_state(run).reason) == ("finished", "")
    assert Path(run / "manifest.json").is_file()
