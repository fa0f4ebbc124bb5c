"""Runs with careers, drifting interests or review: stopped, resumed, forked and replayed."""

import json
from typing import NamedTuple

import pytest

from tests.faultserver import FaultServer, Plan
from tests.scenarios.runs.asked import Asked, digest, run_until
from virsci_society.agents.errors import BudgetReached
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.execute import replay
from virsci_society.scenarios.runs.execute import run_scenario as run_scenario
from virsci_society.scenarios.runs.fork import Fork
from virsci_society.scenarios.runs.run_folder import prompt_hashes
from virsci_society.society.results.digest import compute_run_prefix
from virsci_society.society.results.run import Run

pytestmark = pytest.mark.usefixtures("no_results")


class Kind(NamedTuple):
    """A kind of run; after which calls it is stopped, and from which day it is forked how."""

    keys: dict
    stop: tuple[int, str]
    fork: tuple[float, list[str]]


KINDS = {
    "living": Kind(
        {
            "seed": 5,
            "until": "220d",
            "population.ecosystem.scientists": 14,
            "founding": {"use": "poisson", "teams_per_year": 1.2},
            "careers": {
                "use": "rates",
                "newcomers": {"use": "apprentices", "per_year": 1.0},
                "retirement": {"use": "lengths", "mean": "1217d", "shape": 1.0},
                "inactivity": "120d",
            },
            "metrics": ["structure", "impact"],
        },
        (60, ""),
        (90.0, ["careers.newcomers.per_year=4.0"]),
    ),
    "drifting": Kind(
        {
            "founding.count": 8,
            "founding.every": 14.0,
            "protocol.team_size": 3,
            "population.drift": {"use": "writing", "entering": 0.8, "start": 1.0},
            "metrics": ["teams"],
        },
        (90, ""),
        (70.0, ["protocol.turns=2"]),
    ),
    "reviewed": Kind(
        {
            "population.ecosystem.scientists": 20,
            "metrics": ["cost"],
            "publication": {
                "use": "peer_review",
                "screening": "2d",
                "answer": "3d",
                "deciding": "3d",
            },
        },
        (2, "/review/"),
        (62.0, ["publication.reviewers=1", "seed=9"]),
    ),
}


@pytest.fixture
def make(write, small_text):
    """The small scenario as one of the kinds."""

    def making(kind, **keys):
        return load_scenario(write("small.yaml", small_text), **{**KINDS[kind].keys, **keys})

    return making


@pytest.fixture(scope="session")
def finished():
    """Finished run folders by kind; tests only read them."""
    return {}


@pytest.fixture
def whole(finished, make, tmp_path_factory):
    def of(kind):
        if kind not in finished:
            finished[kind] = run_scenario(make(kind), tmp_path_factory.mktemp(kind) / "run")
        return finished[kind]

    return of


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_stopped_run_asks_for_the_rest_only(kind, make, whole, here, monkeypatch):
    number, part = KINDS[kind].stop
    before = run_until(monkeypatch, number, lambda: run_scenario(make(kind), here / "run"), part)
    assert not (here / "run" / "digest").exists()
    with monkeypatch.context() as patch:
        after = Asked(patch)
        run_scenario(make(kind), here / "run")
    assert before.ids
    assert after.ids
    assert not set(before.ids) & set(after.ids)
    assert digest(here / "run") == digest(whole(kind))
    assert replay(here / "run") == digest(here / "run").strip()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_fork_shares_the_past(kind, whole, here):
    at, settings = KINDS[kind].fork
    past = Fork.of(whole(kind), f"{at:g}d", settings).run(here / "fork")
    ours, theirs = Run.open(here / "fork"), Run.open(whole(kind))
    assert past == compute_run_prefix(ours, at) == compute_run_prefix(theirs, at)
    assert digest(here / "fork") != digest(whole(kind))
    for table, date in (("careers", "date"), ("interests", "date"), ("referees", "assigned")):
        rows = [run.table(table) for run in (ours, theirs)]
        before, after = (
            [one[keep(one[date])].to_dict("records") for one in rows]
            for keep in (lambda dates: dates < at, lambda dates: dates >= at)
        )
        assert before[0] == before[1]
        assert after[0] != after[1] or not after[0]
        assert bool(before[0]) == (
            kind == {"careers": "living", "interests": "drifting"}.get(table, "reviewed")
        )
    # Teams keep the review that they were founded with: three seats still.
    assert set(ours.table("referees")["seat"]) == ({0, 1, 2} if kind == "reviewed" else set())


def test_a_replay_does_not_encode_interests_again(whole, monkeypatch):
    from virsci_society.society.literature.embedding import lsa

    folder, encoded = whole("drifting"), []
    encode = lsa.LSAEmbedding.encode

    def noting(self, texts, *more):
        encoded.extend(texts)
        return encode(self, texts, *more)

    monkeypatch.setattr(lsa.LSAEmbedding, "encode", noting)
    replay(folder)
    lists = Run.open(folder).table("interests")["interests"]
    told = {text.replace("; ", ", ") for text in lists}
    assert told
    assert not told & set(encoded)


def test_teams_founded_after_an_intervention_are_reviewed_as_it_says(make, here):
    changed = [{"at": "7d", "set": {"publication.use": "none"}}]
    run = Run.open(run_scenario(make("reviewed", interventions=changed), here / "run"))
    teams = run.table("teams").sort_values("founded")["team"].tolist()
    assert run.table("teams")["published"].notna().any()
    assert set(run.table("submissions")["team"]) == {teams[0]}


def test_the_prompts_of_every_component_and_every_intervention_belong_to_a_run():
    plain, mixed = load_scenario("quickstart"), load_scenario("community/mixed")
    assert set(prompt_hashes(plain)) == set(prompt_hashes(mixed)) != set()
    later = {"at": "60d", "set": {"publication.use": "peer_review"}}
    names = set(prompt_hashes(plain.set("interventions", [later])))
    assert "publication/review.txt" in names - set(prompt_hashes(plain))


@pytest.mark.slow
def test_the_model_reviews_for_live_teams_alone_and_is_paid_once(make, here, monkeypatch):
    monkeypatch.setenv("FAULTSERVER_KEY", "key-of-the-tests")
    with FaultServer(Plan(rates={"unavailable": 0.1}, retry_after=0.01)) as server:
        live = {"use": "openai", "model": "test", "api_base": server.url, "key": "FAULTSERVER_KEY"}
        backend = {"use": "hybrid", "live_share": 0.4, "live": live, "in_flight": 8}
        backend["retry"] = {"first": 0.01, "longest": 0.05}
        scenario = make("reviewed", backend=backend, **{"founding.count": 6})
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
    rules = Run.open(run_scenario(make("reviewed", **{"founding.count": 6}), here / "rules"))
    assert list(run.events()) == list(rules.events())
    told = json.loads((here / "hybrid" / "manifest.json").read_text())
    assert told["ledger"]["outcomes"]["answered"] == len(counts)
