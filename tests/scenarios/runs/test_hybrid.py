"""A model speaks for some teams of a run: who is paid for, what is marked, what stays the same."""

import json

import pytest

from tests.faultserver import Plan
from tests.scenarios.runs.asked import digest
from virsci_society.agents.errors import BudgetReached, InputError
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.planning.doctor import examine
from virsci_society.scenarios.runs.execute import replay
from virsci_society.scenarios.runs.execute import run_scenario as run_scenario
from virsci_society.scenarios.runs.run_folder import measure_all
from virsci_society.scenarios.runs.run_journal import identity_hash
from virsci_society.society.results.run import Run

pytestmark = pytest.mark.usefixtures("no_results")

TEAMS = """\
name: many teams
seed: 4
until: 100d
population: {ecosystem: {use: synthetic, scientists: 16, papers: 60, fields: 2, seed: 1}}
founding: {use: once, count: 10, every: 1d}
protocol: {use: virsci, team_size: 2, turns: 1, inviting: at_once, topic: {leaving: off}}
time: {homework: 1d, meeting_notice: 3d, reply_window: 3d, publication_delay: 10d}
metrics: [teams, cost]
"""


@pytest.fixture
def make(write, server, monkeypatch):
    """The scenario as a hybrid, its live part at the server."""
    monkeypatch.setenv("FAULTSERVER_KEY", "key-of-the-tests")
    server.plan(Plan())
    server.reset()
    live = {"use": "openai", "model": "test", "api_base": server.url, "key": "FAULTSERVER_KEY"}

    def making(**keys):
        backend = {"use": "hybrid", "live_share": 0.2, "live": live, "in_flight": 8}
        backend["retry"] = {"first": 0.01, "longest": 0.05}
        return load_scenario(write("teams.yaml", TEAMS), backend=backend, **keys)

    return making


def offline(write, here):
    return run_scenario(load_scenario(write("offline.yaml", TEAMS)), here / "offline")


def answered(server):
    return set(server.counts(full=True)["by_call"])


def test_a_fifth_of_the_teams_is_live_and_the_tables_say_which(
    make, server, here, write, monkeypatch
):
    monkeypatch.setattr(
        "virsci_society.scenarios.runs.run_folder.measure_all", measure_all
    )  # of all tests, here
    run = Run.open(run_scenario(make(metrics=["teams"]), here / "hybrid"))
    teams, calls, papers = (run.table(name) for name in ("teams", "calls", "papers"))
    live = set(teams.loc[teams["live"], "team"])
    assert 1 <= len(live) <= 5
    assert len(teams) == 10
    assert set(calls.loc[calls["live"], "team"]) == live
    assert answered(server) == set(calls.loc[calls["live"], "call"])
    assert {"/".join(call.split("/")[:2]) for call in answered(server)} == live
    assert set(papers.loc[papers["live"], "paper"]) == live & set(papers["paper"])
    assert set(calls.loc[~calls["live"], "model"]) == {"offline"}
    measured = run.metric("teams").set_index("team")["live"]
    assert set(measured[measured].index) <= live
    told = json.loads((here / "hybrid" / "manifest.json").read_text())
    assert told["backend"]["model"] == "test"
    assert told["ledger"]["outcomes"] == {"answered": len(answered(server))}
    rules = Run.open(offline(write, here))
    assert list(run.events()) == list(rules.events())
    ours, theirs = calls.set_index("call"), rules.table("calls").set_index("call")
    assert ours["reply"].equals(theirs["reply"].reindex(ours.index))


@pytest.mark.slow
def test_slots_faults_and_stops_change_neither_who_speaks_nor_what(make, server, here):
    whole = run_scenario(make(), here / "whole")
    paid = answered(server)
    server.plan(Plan(rates={"unavailable": 0.3}, retry_after=0.01))
    server.reset()
    slow = make(**{"backend.in_flight": 1})
    with pytest.raises(BudgetReached):
        run_scenario(slow.set("backend.budget.calls", len(paid) // 2), here / "stopped")
    before = answered(server)
    assert 0 < len(before) < len(paid)
    run_scenario(slow, here / "stopped")
    counts = server.counts(full=True)
    assert set(counts["by_call"]) == paid
    assert all(one["answers"] == 1 for one in counts["by_call"].values())
    assert digest(here / "stopped") == digest(whole)
    assert replay(whole) == digest(whole).strip()


def test_the_identity_is_of_what_is_said_and_not_of_how_it_is_asked(make):
    one = make()
    assert identity_hash(make(**{"backend.live.key": "OTHER_KEY"})) == identity_hash(one)
    assert identity_hash(make(**{"backend.in_flight": 3})) == identity_hash(one)
    for key, value in (("live_share", 0.3), ("live.temperature", 0.1), ("stages", ["topic"])):
        assert identity_hash(make(**{f"backend.{key}": value})) != identity_hash(one)


def test_doctor_visits_the_live_part(make, server):
    told = list(examine(make(**{"backend.live_share": 0.5})))
    assert any("for a share of 0.5 of the teams" in finding.message for finding in told)
    assert server.counts()["requests"] >= 1
    assert not [finding for finding in told if finding.state == "problem"]


def test_a_hybrid_without_a_model_or_a_choice_names_the_line(write):
    for backend, why in (
        (
            "{use: hybrid, live_share: 0.1}",
            r"backend\.live: required, but not given; name the model",
        ),
        ("{use: hybrid, live: {use: offline}}", "say which teams are live"),
        ("{use: hybrid, live: {use: offline}, live_share: 2}", "expected at most 1"),
    ):
        file = write("s.yaml", f"extends: quickstart\nbackend: {backend}\n")
        with pytest.raises(InputError, match=f"s.yaml:2.*{why}"):
            load_scenario(file)
