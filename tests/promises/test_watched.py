"""A run against a server is watched: its numbers move, a kill and a resume are shown (R9, R15)."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.faultserver import Plan
from tests.scenarios.watch.browserlike import events
from virsci_society.scenarios.watch.folder_state import RunWatch
from virsci_society.scenarios.watch.server import WatchServer
from virsci_society.society.results.run import Run

TEAM = """\
name: watched
seed: 3
until: 26w
population: {ecosystem: {use: synthetic, scientists: 12, papers: 90, fields: 2, seed: 1}}
founding: {use: once, count: 2, every: 7d}
protocol: {use: virsci, team_size: 2, turns: 2, inviting: at_once, topic: {leaving: off}}
time: {homework: 1d, meeting_notice: 3d, reply_window: 3d, publication_delay: 10d}
metrics: [teams]
"""


def test_a_run_in_progress_moves_is_killed_and_goes_on(nursery, server, tmp_path: Path) -> None:
    server.reset()
    server.plan(Plan(latency=0.01, rates={"server_error": 0.1}))
    path, folder, log = tmp_path / "team.yaml", tmp_path / "run", tmp_path / "log"
    path.write_text(TEAM, encoding="utf-8")
    command = ["run", path, "--out", folder, "--set=backend.use=openai"]
    command += ["--set=backend.model=test", f"--set=backend.api_base={server.url}"]
    command += ["--set=backend.key=FAULTSERVER_KEY", "--set=backend.in_flight=1"]
    command += ["--set=backend.prices={input: 1, output: 2}"]
    run = nursery.start(log, *command)
    watch = RunWatch(folder)
    with WatchServer(watch.state, every=0.03) as page, events(page.url) as seen:
        first = next(state for state in seen if state["calls"] >= 2)
        later = next(state for state in seen if state["calls"] >= 6)
        assert first["state"] == later["state"] == "running"
        assert (later["name"], later["seed"]) == ("watched", 3)
        assert later["tokens"] > first["tokens"] > 0
        assert later["usd"] > first["usd"] > 0
        assert later["day"] >= first["day"] > 0
        assert later["share"] == pytest.approx(later["day"] / 182)
        assert sum(one["teams"] for one in later["stages"]) == later["teams"] > 0
        os.kill(run, signal.SIGKILL)
        nursery.wait(run)
        killed = next(state for state in seen if state["state"] == "killed")
        assert killed["in_flight"] == 0
        assert killed["calls"] >= later["calls"]
        with events(page.url) as again:
            assert next(again)["calls"] == killed["calls"]
        server.plan(Plan())
        assert nursery.run(log, *command)[0] == 0, log.read_text(encoding="utf-8")
        ended = next(state for state in seen if state["state"] == "finished")
    assert ended["sessions"] == 2
    assert ended["calls"] > killed["calls"]
    opened = Run.open(folder)
    assert ended["papers"] == len(opened.table("papers"))
    ledger = opened.manifest["ledger"]
    known = ledger["prompt_tokens"] + ledger["completion_tokens"] + ledger["cut_off_tokens"]
    assert ended["tokens"] == known
    assert ended["usd"] == pytest.approx(ledger["usd"] + ledger["cut_off_usd"])
    failed = {one["kind"]: one["number"] for one in ended["faults"]}
    usual = ("answered", "in doubt")
    assert failed == {k: n for k, n in ledger["outcomes"].items() if k not in usual}
