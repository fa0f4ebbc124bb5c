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
from tests.peers import litellm_proxy, llama_server
from tests.peers.peer_process import ROOT
from tests.peers.random_model import write_random_model

Peer = Literal["proxy", "gbnf", "llguidance"]
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
"""Tokens of a reply at most; of noise that does not end, so many are written."""


@dataclass(frozen=True)
class PeerRun:
    """One run against a peer."""

    title: str
    peer: Peer
    client: Literal["openai", "litellm"]
    model: str

    @property
    def noise(self):
        """True if the model of random weights answers."""
        return self.model.endswith("noise")


RUNS = {
    "rules": PeerRun("litellm proxy, rule-based scientists behind it", "proxy", "openai", "test"),
    "json": PeerRun("litellm proxy, mock: JSON", "proxy", "litellm", "litellm_proxy/mock-json"),
    "prose": PeerRun("litellm proxy, mock: JSON within prose", "proxy", "openai", "mock-prose"),
    "mute": PeerRun("litellm proxy, mock: no JSON", "proxy", "openai", "mock-mute"),
    "gbnf": PeerRun("llama.cpp, random weights, GBNF", "gbnf", "openai", "noise"),
    "llguidance": PeerRun("llama.cpp, random weights, LLGuidance", "llguidance", "openai", "noise"),
    "chain": PeerRun(
        "litellm proxy, llama.cpp (LLGuidance) behind it",
        *("proxy", "litellm", "litellm_proxy/noise"),
    ),
}


class Peers:
    """The peers of one session, each started when it is first asked for."""

    def __init__(self, folder):
        self._folder, self._stack = folder, contextlib.ExitStack()
        self._started = {}
        self._model = None
        self._rules = None
        self.key = litellm_proxy.new_key()

    def __enter__(self):
        """Start nothing yet."""
        return self

    def __exit__(self, kind, error, trace):
        """End every peer."""
        self._stack.close()

    @property
    def model(self):
        """The model of random weights."""
        if self._model is None:
            self._model = write_random_model(self._folder / "random.gguf")
        return self._model

    @property
    def rules(self):
        """The server of the rule-based scientists, which counts what reaches it."""
        if self._rules is None:
            self._rules = self._stack.enter_context(FaultServer())
        return self._rules

    def process(self, peer):
        """A peer that can be asked."""
        if peer not in self._started:
            self._started[peer] = self._stack.enter_context(self._prepared(peer))
        return self._started[peer]

    def settings(self, run):
        """The section ``backend`` of a run."""
        backend = {
            "use": run.client,
            "model": run.model,
            "api_base": self.process(run.peer).url,
            "max_tokens": MAX_TOKENS,
            "structured": "on",
            "in_flight": llama_server.SLOTS,
            "retry": {"first": 0.05, "longest": 0.2},
            "unreadable": {"stop_at": 1},
        }
        if run.peer == "proxy":
            backend["key"] = litellm_proxy.KEY
        if run.noise:
            backend["extra"] = {"logit_bias": dict(self.model.logit_bias)}
        return backend

    def _prepared(self, peer):
        if peer != "proxy":
            return llama_server.llama_server(self.model.path, peer, self._folder / f"{peer}.log")
        behind = {"test": self.rules.url}
        if llama_server.missing() is None:
            behind["noise"] = self.process("llguidance").url
        return litellm_proxy.litellm_proxy(self._folder, self.key, behind)


def missing(run):
    """Why a run cannot be made here; None if it can."""
    proxy = litellm_proxy.missing() if run.peer == "proxy" else None
    return proxy or (llama_server.missing() if run.noise else None)


@dataclass(frozen=True)
class Outcome:
    """What came of a run."""

    code: int
    printed: str
    folder: Path

    @property
    def summary(self):
        """What ``society show RUN --json`` prints."""
        done = _society(["show", str(self.folder), "--json"], self.folder.parent)
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
    done = _society(["run", str(scenario), "--out", "run"], folder, {litellm_proxy.KEY: key})
    return Outcome(done.returncode, done.stdout + done.stderr, folder / "run")


def replay(outcome):
    """Go through a run again from its journal alone."""
    return _society(["replay", str(outcome.folder)], outcome.folder.parent)


def _society(arguments, folder, environment=None):
    return subprocess.run(
        [str(SOCIETY), *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | (environment or {}),
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )
