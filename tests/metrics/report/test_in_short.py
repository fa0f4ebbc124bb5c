"""The first screen of a run's page: three sentences and a strip of facts, made from the tables."""

import pytest

from virsci_society.metrics.report.page import (
    in_short,
    outcome_sentence,
    simulated_sentence,
    speaker,
)
from virsci_society.metrics.report.templates import columns_with_values, count_of, format_percent
from virsci_society.metrics.summary import summarise_run


def short(run):
    found = in_short(run, summarise_run(run))
    return found["sentences"], dict(found["status"])


def test_three_sentences_say_what_was_simulated_what_came_out_and_that_it_went_well(hand_run):
    run = hand_run()
    (simulated, outcome, trouble), status = short(run)
    assert simulated.startswith(
        "This run simulates 7 scientists for 100 simulated days, in teams of 2 to 4"
    )
    teams = summarise_run(run)["teams"]
    assert (teams["founded"], teams["published"]) == (3, 1)
    assert outcome.startswith("1 of 3 teams published a paper (1 was at work, 1 had dissolved); ")
    assert "mean overall novelty (ON) is " in outcome
    assert "average paper of its year (1)" in outcome
    assert trouble.startswith(("Nothing went wrong", "Something went wrong"))
    assert list(status) == [
        "state",
        "failed attempts",
        "defaulted answers",
        "cost",
        "who spoke",
    ]
    assert "not a language model" in status["who spoke"]


def test_people_of_a_living_society_are_counted_at_first_at_the_end_and_in_all(make_run, rows):
    rows["careers"] = [
        ("S9", 5.0, "arrived"),
        ("S2", 9.0, "retired"),
        ("S1", 9.5, "retired"),
    ]
    rows["scientists"] = [*rows["scientists"], ("S9", "t", 0, 0, 2020, 5.0)]
    told = simulated_sentence(make_run(rows))
    assert "7 scientists at first, 6 at the end (8 in all), for" in told


def test_faults_defaults_and_a_stop_are_told(make_run, rows):
    ledger = {"attempts": 10, "outcomes": {"answered": 6, "refused": 1, "timeout": 3}, "usd": 0.5}
    run = make_run(rows, {"ledger": ledger, "partial": "the budget is reached", "until": 400})
    (_, _, trouble), status = short(run)
    assert "the run was stopped on day " in trouble
    assert "3 attempts failed and had to be repeated" in trouble
    assert status["failed attempts"] == "3"
    assert status["cost"] == "$0.5000"
    assert status["state"].endswith("of 400")


@pytest.mark.parametrize(
    ("backend", "told"),
    [
        ({"api_base": "http://me:pw@127.0.0.1:99/v1"}, "what answers at 127.0.0.1 as openai/test"),
        ({"via": [{"api_base": "https://a.org"}]}, "what answers at a.org as openai/test"),
        ({"use": "hybrid", "live": {"api_base": "http://b"}}, "what answers at b as openai/test"),
        ({}, "the language model openai/test"),
    ],
)
def test_what_answers_at_a_given_address_is_not_called_a_language_model(make_run, backend, told):
    about = "the language model openai/test, through litellm"
    run = make_run(manifest={"backend": {"use": "litellm", "about": about}})
    run.scenario["backend"] = backend
    assert speaker(run) == f"{told}, through litellm"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.037, "3.7\u202f%"),
        (0.25, "25\u202f%"),
        (0.0, "0\u202f%"),
        (1.0, "100\u202f%"),
        (0.0999, "10\u202f%"),
        (0.0001, "< 0.1\u202f%"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_shares_are_per_cent(share, text):
    assert format_percent(share) == text


def test_one_of_a_thing_is_singular():
    assert count_of(1, "paper") == "1 paper"
    assert count_of(0, "reply", "replies") == "0 replies"


def test_columns_of_zeros_are_left_out_but_never_all():
    columns = [("name", "name"), ("zero", "zero"), ("one", "one"), ("word", "word")]
    rows = [
        {"name": "a", "zero": 0, "one": 1, "word": ""},
        {"name": "b", "zero": None, "one": 0, "word": ""},
    ]
    assert columns_with_values(columns, rows) == [columns[0], columns[2]]
    assert columns_with_values(columns[:2], rows) == columns[:2]


def test_a_run_without_a_paper_says_so(hand_run):
    run = hand_run()
    sentence = outcome_sentence(run, summarise_run(run) | {"papers": 0})
    assert sentence == "3 teams published no paper."


@pytest.mark.parametrize(
    ("teams", "partial", "papers", "told"),
    [
        (
            {"founded": 17, "running": 4, "finished": 3, "dissolved": {}},
            None,
            10,
            "10 of 17 teams published a paper (3 had finished one that was not visible yet, "
            "4 were at work)",
        ),
        (
            {"founded": 2, "running": 0, "finished": 0, "dissolved": {}},
            None,
            2,
            "All 2 teams published a paper",
        ),
        (
            {"founded": 1, "running": 0, "finished": 0, "dissolved": {}},
            None,
            1,
            "The one team published a paper",
        ),
        (
            {"founded": 3, "running": None, "finished": None, "dissolved": {"x": 1}},
            "stopped",
            2,
            "2 of 3 teams that had ended published a paper (1 had dissolved)",
        ),
    ],
)
def test_teams_that_published_are_counted_among_all(make_run, teams, partial, papers, told):
    summary = {"teams": teams, "partial": partial, "papers": papers}
    assert outcome_sentence(make_run(), summary).startswith(f"{told}; ")
