"""The runs of a small society against each peer, and what came of them."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.peers import litellm_proxy

ROOT = Path(__file__).parents[2]
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


RUNS = {
    "rules": ("openai", "test"),
    "json": ("litellm", "litellm_proxy/mock-json"),
    "prose": ("openai", "mock-prose"),
    "mute": ("openai", "mock-mute"),
}
"""Client and model of each run: rule-based scientists, then mocks."""


def settings(name, proxy):
    """The section ``backend`` of a run."""
    client, model = RUNS[name]
    return {
        "use": client,
        "model": model,
        "api_base": proxy.url,
        "key": litellm_proxy.KEY,
        "max_tokens": 600,
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
        return json.loads(done.stdout)

    def calls(self):
        """Id, text and cut of every reply that the journal holds, in the order of arrival."""
        return self._rows("SELECT id, text, cut FROM calls WHERE kind = 'answer' ORDER BY row")

    def requests(self):
        """How many requests were sent."""
        ((requests,),) = self._rows("SELECT count(*) FROM attempts")
        return requests

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
