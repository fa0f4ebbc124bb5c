"""The scenarios that small models run, and what is asserted of every run."""

import json
from pathlib import Path

from tests.peers.runs import Outcome, society
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import REPEATED_ACTS

ROOT = Path(__file__).parents[2]
TEAM = ROOT / "examples" / "recorded" / "team.yaml"
SOCIETY = """\
name: three teams
seed: 2
until: 1y
population: {ecosystem: {use: synthetic, scientists: 6, papers: 60, fields: 1, seed: 1}}
founding: {use: once, count: 3, every: 7d, max_teams: 3}
protocol:
  use: virsci
  team_size: 2
  turns: 1
  inviting: at_once
  topic: {leaving: off}
  references: {count: 1, sentences: 1}
time: {homework: 1d, meeting_notice: 3d, reply_window: 3d, publication_delay: 10d}
backend: {use: local, max_tokens: 200, deterministic: on, unreadable: {stop_at: 1}}
metrics: [novelty, teams, cost]
"""
"""Three teams of two among six people, of whom some are in two teams."""


def run(scenario, folder, *settings):
    """Run a scenario by the command, in a process of its own."""
    given = [word for setting in settings for word in ("--set", setting)]
    done = society(["run", str(scenario), "--out", str(folder), *given], folder.parent)
    return Outcome(done.returncode, done.stdout + done.stderr, folder)


def assert_speaks(outcome, model):
    """The run has finished, this model has spoken, and most forms were filled in its words."""
    assert outcome.code == 0, outcome.printed
    assert "Traceback" not in outcome.printed
    calls = Run.open(outcome.folder).table("calls")
    # Calls that waited for words of a team that ended were never sent.
    sent = calls[calls["prompt_hash"] != ""]
    assert sent["model"].str.startswith(model).all()
    reading = outcome.summary["reading"]
    assert reading["asked"] > 0
    texts = reading["texts"].values()
    assert 2 * sum(form["default"] > 0 for form in texts) < len(texts), reading["texts"]
    # Of replies with two to six fields: at most a tenth of the fields.
    assert 5 * sum(form["echoed"] for form in texts) <= reading["asked"], reading["texts"]


def assert_in_order(outcome):
    """Every reply that is JSON has the fields of its form, in the order of the schema."""
    calls = Run.open(outcome.folder).table("calls")
    questions = calls[~calls["act"].isin(REPEATED_ACTS)].set_index("call")["form"]
    orders = {}
    for call, text, cut in outcome.calls():
        if not cut and call in questions.index:
            orders.setdefault(questions[call], set()).add(tuple(json.loads(text)))
    assert len(orders) > 3
    for written in orders.values():
        longest = max(written, key=len)  # some pages leave a field out of the schema
        for one in written:
            assert list(one) == [name for name in longest if name in one]


def assert_replays(outcome):
    """The journal alone gives the digest."""
    done = society(["replay", str(outcome.folder)], outcome.folder.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcome.summary["digest"] in done.stdout
