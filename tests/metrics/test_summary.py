import json

import pytest

from virsci_society.metrics.summary import summarise_run


@pytest.fixture
def told(run):
    return summarise_run(run)


def test_it_names_scenario_seed_digest_and_backend(told):
    assert told["scenario"] == "hand/made"
    assert (told["seed"], told["days"], told["scientists"]) == (7, 100.0, 7)
    assert told["digest"] == "d" * 64
    assert told["backend"]["use"] == "offline"


def test_teams_and_papers(told):
    assert told["teams"] == {
        "founded": 3,
        "published": 1,
        "dissolved": {"too small": 1},
        "running": 1,
        "finished": 0,
    }
    assert told["papers"] == 1


def test_inference_cost_is_that_of_teams_with_a_paper(told):
    assert told["inference_cost"]["per_team"] == {"S1/1": 80, "S5/1": 0, "S6/1": 0}
    assert told["inference_cost"]["mean"] == 80.0
    assert told["inference_cost"]["extra"] == 2
    by_stage = {"topic": 20, "ideas": 20, "novelty": 20, "abstract": 20}
    assert told["inference_cost"]["by_stage"] == by_stage


def test_invitations_and_contacts(told):
    assert told["invitations"] == {
        "sent": 8,
        "accepted": 4,
        "declined": 2,
        "full": 1,
        "unanswered": 1,
        "cross_team": 4,
    }
    assert told["consultations"] == 2
    assert told["max_memberships"] == 2
    assert told["waiting"] == pytest.approx((3 + 1 + 1) / 3)


def test_what_is_not_available_is_null(make_run, empty_run):
    told = summarise_run(make_run())
    assert [told[name] for name in ("HD", "CD", "CI", "ON")] == [None] * 4
    told = summarise_run(empty_run)
    assert told["inference_cost"]["mean"] is None
    assert told["teams"]["founded"] == 0
    assert told["teams"]["dissolved"] == {}
    assert told["max_memberships"] == 0
    assert told["digest"] is None


def test_it_is_json_and_the_same_every_time(told, run, empty_run):
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert json.dumps(summarise_run(run)) == json.dumps(told)
    json.dumps(summarise_run(empty_run), allow_nan=False)


def test_a_dissolved_team_without_a_reason(rows, make_run):
    rows["teams"] = [(*row[:10], None, *row[11:]) for row in rows["teams"]]
    assert summarise_run(make_run(rows))["teams"]["dissolved"] == {"no reason given": 1}
