"""Three teams, spoken by SmolLM2: killed, resumed and replayed."""

import os
import signal
import subprocess
import time

import pytest

from tests.models.runs import SOCIETY, assert_in_order, assert_replays, assert_speaks, run
from tests.peers.runs import ROOT, Outcome
from tests.peers.runs import SOCIETY as COMMAND

pytestmark = [pytest.mark.models, pytest.mark.timeout(1800)]
ENOUGH = 8
"""Answered calls after which the run is killed."""


def children(process):
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False
    )
    return [int(pid) for pid in listed.stdout.split()]


def alive(process):
    """Is there such a process, other than one that has ended and is not yet collected?"""
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    )
    return bool(state.stdout.strip()) and not state.stdout.strip().startswith("Z")


def soon(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def answered(folder):
    journal = folder / "journal.sqlite"
    return Outcome(0, "", folder).calls() if journal.is_file() else []


def test_a_society_is_killed_resumed_and_replayed(tmp_path):
    scenario, folder = tmp_path / "three.yaml", tmp_path / "run"
    scenario.write_text(SOCIETY, encoding="utf-8")
    command = [str(COMMAND), "run", str(scenario), "--out", str(folder)]
    process = subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert soon(lambda: len(answered(folder)) >= ENOUGH, 500)
    (server,) = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert soon(lambda: not alive(server), 20)
    before = answered(folder)
    assert len(before) >= ENOUGH

    outcome = run(scenario, folder)
    assert_speaks(outcome, "SmolLM2-135M")
    # The answers of before are the first of the journal, and none was asked for again.
    assert outcome.calls()[: len(before)] == before
    summary = outcome.summary
    assert summary["teams"]["founded"] == 3
    assert summary["teams"]["running"] == 0
    assert summary["invitations"]["cross_team"] >= 1
    assert_in_order(outcome)
    assert_replays(outcome)
