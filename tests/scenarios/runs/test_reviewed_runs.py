"""Runs whose manuscripts are reviewed: stopped, gone on with, forked, replayed, planned, paid."""

import json

import pytest

from tests.faultserver import FaultServer, Plan
from tests.scenarios.runs.asked import Asked, digest, run_until
from virsci_society.agents.errors import BudgetReached
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.planning.plan import plan
from virsci_society.scenarios.runs.execute import replay
from virsci_society.scenarios.runs.execute import run_scenario as run_scenario
from virsci_society.scenarios.runs.fork import Fork
from virsci_society.scenarios.runs.run_folder import prompt_hashes
from virsci_society.scenarios.runs.run_journal import identity_hash
from virsci_society.society.results.digest import compute_run_prefix
from virsci_society.society.results.run import Run

pytestmark = pytest.mark.usefixtures("no_results")

REVIEWED = {
    "population.ecosystem.scientists": 20,
    "metrics": ["cost"],
    "publication": {"use": "peer_review", "screening": "2d", "answer": "3d", "deciding": "3d"},
}


@pytest.fixture
def reviewed(write, small_text):
    """The small scenario with review before publication."""

    def making(**keys):
        return load_scenario(write("small.yaml", small_text), **{**REVIEWED, **keys})

    return making


@pytest.mark.slow
@pytest.mark.parametrize("stop_at", [1, 2])
def test_a_run_stopped_in_the_middle_of_a_review_asks_for_the_rest_only(
    reviewed, here, monkeypatch, stop_at
):
    before = run_until(
        monkeypatch, stop_at, lambda: run_scenario(reviewed(), here / "run"), "/review/"
    )
    after = Asked(monkeypatch)
    run_scenario(reviewed(), here / "run")
    assert before.ids
    assert after.ids
    assert not set(before.ids) & set(after.ids)
    run_scenario(reviewed(), here / "whole")
    assert digest(here / "run") == digest(here / "whole")
    assert replay(here / "run") == digest(here / "run").strip()


@pytest.mark.slow
def test_a_fork_in_the_middle_of_a_review_shares_what_was_before(reviewed, here):
    folder = run_scenario(reviewed(), here / "run")
    referees = Run.open(folder).table("referees")
    at = float(referees["assigned"].dropna().iloc[0]) + 0.25
    settings = ["publication.reviewers=1", "seed=9"]
    past = Fork.of(folder, f"{at}d", settings).run(here / "fork")
    ours, theirs = Run.open(here / "fork"), Run.open(folder)
    assert past == compute_run_prefix(ours, at) == compute_run_prefix(theirs, at)
    assert digest(here / "fork") != digest(folder)
    # Teams keep the review that they were founded with: three seats still.
    first = ours.table("referees")
    assert set(first["seat"]) == {0, 1, 2}


def test_teams_founded_after_an_intervention_are_reviewed_as_it_says(reviewed, here):
    changed = [{"at": "7d", "set": {"publication.use": "none"}}]
    run = Run.open(run_scenario(reviewed(interventions=changed), here / "run"))
    teams = run.table("teams").sort_values("founded")["team"].tolist()
    assert run.table("teams")["published"].notna().any()
    assert set(run.table("submissions")["team"]) == {teams[0]}


def test_nothing_changes_where_there_is_no_review(write, small_text, small_run, here):
    plain = load_scenario(write("small.yaml", small_text))
    assert "publication" not in plain.identity()
    stated = load_scenario(write("small.yaml", small_text), publication="none")
    assert identity_hash(stated) == identity_hash(plain)
    assert digest(run_scenario(stated, here / "run")) == digest(small_run)
    assert not any(name.startswith("publication/") for name in prompt_hashes(plain))


def test_the_prompts_of_every_component_and_every_intervention_belong_to_a_run():
    plain, mixed = load_scenario("quickstart"), load_scenario("community/mixed")
    assert set(prompt_hashes(plain)) == set(prompt_hashes(mixed)) != set()
    later = {"at": "60d", "set": {"publication.use": "peer_review"}}
    names = set(prompt_hashes(plain.set("interventions", [later])))
    assert "publication/review.txt" in names - set(prompt_hashes(plain))


def test_a_plan_foresees_the_calls_of_review(reviewed, here):
    scenario = reviewed()
    calls = Run.open(run_scenario(scenario, here / "run")).table("calls")
    assert (calls["stage"] == "publication").sum() > 10
    assert plan(scenario).calls == len(calls)


def test_without_words_a_lot_makes_no_call(reviewed, here):
    keys = {"protocol": {"use": "wordless"}, "publication": {"use": "chance", "decision": "20d"}}
    run = Run.open(run_scenario(reviewed(**keys, **{"founding.count": 8}), here / "run"))
    assert not len(run.table("calls"))
    assert set(run.table("submissions")["decision"]) == {"accept", "reject"}
    assert set(run.table("referees")["team"]) == set()


@pytest.mark.slow
def test_teams_of_a_mixture_are_all_reviewed(reviewed, here):
    parts = [{"share": 1, "protocol": {"use": "virsci", "team_size": 2, "turns": 1}}]
    parts.append({"share": 1, "protocol": {"use": "wordless", "team_size": 2}})
    keys = {"protocol": {"use": "mixture", "of": parts}, "founding.count": 8}
    run = Run.open(run_scenario(reviewed(**keys), here / "run"))
    teams = run.table("teams").set_index("team")["protocol"]
    assert set(teams[run.table("submissions")["team"].unique()]) == {"virsci", "wordless"}


@pytest.mark.slow
def test_the_model_reviews_for_live_teams_alone_and_is_paid_once(reviewed, here, monkeypatch):
    monkeypatch.setenv("FAULTSERVER_KEY", "key-of-the-tests")
    with FaultServer(Plan(rates={"unavailable": 0.1}, retry_after=0.01)) as server:
        live = {"use": "openai", "model": "test", "api_base": server.url, "key": "FAULTSERVER_KEY"}
        backend = {"use": "hybrid", "live_share": 0.4, "live": live, "in_flight": 8}
        backend["retry"] = {"first": 0.01, "longest": 0.05}
        scenario = reviewed(backend=backend, **{"founding.count": 6})
        with pytest.raises(BudgetReached):
            run_scenario(scenario.set("backend.budget.calls", 12), here / "hybrid")
        run = Run.open(run_scenario(scenario, here / "hybrid"))
        counts = server.counts(full=True)["by_call"]
    calls, teams = run.table("calls"), run.table("teams")
    asked = calls[calls["stage"] == "publication"]
    live_teams = set(teams.loc[teams["live"], "team"])
    assert set(asked.loc[asked["live"], "team"]) == live_teams & set(asked["team"]) != set()
    assert not asked["live"].all()
    assert set(counts) == set(calls.loc[calls["live"], "call"])
    assert all(one["answers"] == 1 for one in counts.values())
    rules = Run.open(run_scenario(reviewed(**{"founding.count": 6}), here / "rules"))
    assert list(run.events()) == list(rules.events())
    told = json.loads((here / "hybrid" / "manifest.json").read_text())
    assert told["ledger"]["outcomes"]["answered"] == len(counts)
