"""The runs of a small society against each peer, and what came of them."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.faultserver import FaultServer
from tests.peers import litellm_proxy
from tests.peers.peer_process import ROOT

SOCIETY = Path(sys.executable).with_name("society")
SCENARIO = """\
name: peers
seed: 3
until: 1y
population: {ecosystem: {use: synthetic, scientists: 12, papers: 90, fields: 2, seed: 1}}
founding: {use: once, count: 3, every: 7d}
protocol: {use: virsci, team_size: 2, turns: 1, inviting: at_once, topic: {leaving: off}}
time: {homework: 1d, meeting_notice: 3d, reply_window: 3d, publication_delay: 10d}
"""
"""Three teams of two, one turn a stage."""
MAX_TOKENS = 600
"""Tokens of a reply at most."""


@dataclass(frozen=True)
class PeerRun:
    """One run against the proxy."""

    title: str
    client: Literal["openai", "litellm"]
    model: str


RUNS = {
    "rules": PeerRun("litellm proxy, rule-based scientists behind it", "openai", "test"),
    "json": PeerRun("litellm proxy, mock: JSON", "litellm", "litellm_proxy/mock-json"),
    "prose": PeerRun("litellm proxy, mock: JSON within prose", "openai", "mock-prose"),
    "mute": PeerRun("litellm proxy, mock: no JSON", "openai", "mock-mute"),
}


class Peers:
    """The peers of one session, each started when it is first asked for."""

    def __init__(self, folder):
        self._folder, self._stack = folder, contextlib.ExitStack()
        self._proxy = self._rules = None
        self.key = litellm_proxy.new_key()

    def __enter__(self):
        """Start nothing yet."""
        return self

    def __exit__(self, kind, error, trace):
        """End every peer."""
        self._stack.close()

    @property
    def rules(self):
        """The server of the rule-based scientists, which counts what reaches it."""
        if self._rules is None:
            self._rules = self._stack.enter_context(FaultServer())
        return self._rules

    @property
    def proxy(self):
        """The proxy, which can be asked."""
        if self._proxy is None:
            behind = {"test": self.rules.url}
            proxy = litellm_proxy.litellm_proxy(self._folder, self.key, behind)
            self._proxy = self._stack.enter_context(proxy)
        return self._proxy

    def settings(self, run):
        """The section ``backend`` of a run."""
        return {
            "use": run.client,
            "model": run.model,
            "api_base": self.proxy.url,
            "key": litellm_proxy.KEY,
            "max_tokens": MAX_TOKENS,
            "structured": "on",
            "in_flight": 2,
            "retry": {"first": 0.05, "longest": 0.2},
            "unreadable": {"stop_at": 1},
        }


@dataclass(frozen=True)
class Outcome:
    """What came of a run."""

    code: int
    printed: str
    folder: Path

    @property
    def summary(self):
        """What ``society show RUN --json`` prints."""
        done = society(["show", str(self.folder), "--json"], self.folder.parent)
        summary = json.loads(done.stdout)
        return summary

    def calls(self):
        """Id, text and cut of every reply that the journal holds, in the order of arrival."""
        return self._rows("SELECT id, text, cut FROM calls WHERE kind = 'answer' ORDER BY row")

    def requests(self):
        """Requests that were sent, and the seconds that all of them together took."""
        ((requests, seconds),) = self._rows("SELECT count(*), total(seconds) FROM attempts")
        return requests, seconds

    def _rows(self, query):
        journal = sqlite3.connect(f"file:{self.folder / 'journal.sqlite'}?mode=ro", uri=True)
        try:
            return journal.execute(query).fetchall()
        finally:
            journal.close()


def play(backend, folder, key):
    """Run the scenario with a backend, by the command, in a process of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    scenario = folder / "peers.yaml"
    scenario.write_text(f"{SCENARIO}backend: {json.dumps(backend)}\n", encoding="utf-8")
    done = society(["run", str(scenario), "--out", "run"], folder, {litellm_proxy.KEY: key})
    return Outcome(done.returncode, done.stdout + done.stderr, folder / "run")


def replay(outcome):
    """Go through a run again from its journal alone."""
    return society(["replay", str(outcome.folder)], outcome.folder.parent)


def society(arguments, folder, environment=None):
    """The command, in a process of its own."""
    return subprocess.run(
        [str(SOCIETY), *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | (environment or {}),
        capture_output=True,
        text=True,
        timeout=1700,  # a guard against hangs: small models are slow on a busy machine
        check=False,
    )
