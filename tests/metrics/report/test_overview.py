"""The first screen of a run's page: what happened, who mattered, and a strip of checks."""

import pytest

from virsci_society.metrics.network_layout import run_communities
from virsci_society.metrics.report.overview import (
    first_screen,
    people_sentence,
    publishing,
    speaker,
    written_by_rules,
)
from virsci_society.metrics.report.templates import columns_with_values, format_percent
from virsci_society.metrics.summary import summarise_run


def short(run):
    found = first_screen(run, summarise_run(run), run_communities(run))
    return found["sentences"], dict(found["rows"]), dict(found["status"]), found["trouble"]


def test_three_sentences_say_who_did_what_what_came_out_and_how_the_network_grew(hand_run):
    run = hand_run()
    sentences, _, status, trouble = short(run)
    assert sentences == [
        "7 scientists founded 3 teams of 1 to 4 (planned: 2 to 4) in 100 simulated days, under "
        "VirSci.",
        "1 of 3 teams published a paper (1 was at work, 1 had dissolved).",
        "On day 0, 3 pairs of scientists had co-authored papers, and 4 of 7 scientists were "
        "connected through co-authors; on day 100, 8 pairs had, and 6 of 7 scientists were "
        "connected.",
    ]
    assert trouble.startswith(("The run finished", "Problems:"))
    assert list(status) == ["state", "answers"], "zeros and what was not paid are hidden"
    assert "not a language model" in status["answers"]


def test_rows_name_who_wrote_most_who_bridges_and_what_changed_with_numbers(hand_run):
    run = hand_run()
    _, rows, _, _ = short(run)
    wrote = run.table("authorships")["scientist"].value_counts()
    assert rows["Most papers"].startswith(f"{min(wrote.index)} ({wrote.max()} paper")
    ties = run.table("ties").dropna(subset=["date"])
    pairs = {frozenset(pair) for pair in zip(ties["source"], ties["target"], strict=True)}
    whole = run_communities(run)
    place = dict(zip(whole.names, whole.community.tolist(), strict=True))
    across = [pair for pair in pairs if len({place[who] for who in pair}) == 2]
    outside = {who: sum(who in pair for pair in across) for who in place}
    first = min(place, key=lambda who: (-outside[who], who))
    told = rows["Bridges between communities"]
    assert told.startswith(f"{first} ({outside[first]} co-author")
    assert "How novel" not in rows, "rules wrote the words"


def test_the_novelty_of_words_that_a_model_wrote_is_read_beside_that_of_the_year(hand_run):
    run = hand_run()
    run.manifest["backend"] = {"use": "litellm", "about": "the language model m"}
    _, rows, _, _ = short(run)
    assert rows["How novel"].startswith("the mean overall novelty (ON) of the papers is ")
    assert "average paper of its year (1)" in rows["How novel"]


@pytest.mark.parametrize(
    ("about", "alone"),
    [
        ("rule-based scientists, not a language model", True),
        (
            "the language model m, for every team; for the rest rule-based scientists, not a "
            "language model",
            False,
        ),
        ("people, for S1; for the rest rule-based scientists, not a language model", False),
        ("", False),
    ],
)
def test_words_are_of_rules_where_nobody_else_speaks(make_run, about, alone):
    run = make_run(manifest={"backend": {"use": "x", "about": about}})
    assert written_by_rules(run) == alone


def test_people_of_a_living_society_are_counted_at_first_at_the_end_and_in_all(make_run, rows):
    rows["careers"] = [("S9", 5.0, "arrived"), ("S2", 9.0, "retired"), ("S1", 9.5, "retired")]
    rows["scientists"] = [*rows["scientists"], ("S9", "t", 0, 0, 2020, 5.0)]
    told = people_sentence(make_run(rows))
    assert told.startswith("7 scientists at first, 6 at the end (8 in all), founded 3 teams")


def test_faults_defaults_and_a_stop_are_told(make_run, rows):
    ledger = {"attempts": 10, "outcomes": {"answered": 6, "refused": 1, "timeout": 3}, "usd": 0.5}
    run = make_run(rows, {"ledger": ledger, "partial": "the budget is reached", "until": 400})
    _, _, status, trouble = short(run)
    assert "the run was stopped on day " in trouble
    assert "3 attempts failed and had to be repeated" in trouble
    assert status["cost"] == "$0.5000"
    assert status["state"].endswith("of 400")


@pytest.mark.parametrize(
    ("backend", "told"),
    [
        ({"api_base": "http://me:pw@127.0.0.1:99/v1"}, "the server 127.0.0.1 as openai/test"),
        ({"use": "hybrid", "live": {"api_base": "http://b"}}, "the server b as openai/test"),
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
    teams = summarise_run(run)["teams"] | {"published": 0}
    assert publishing({"teams": teams, "partial": None}) == "3 teams published no paper"


@pytest.mark.parametrize(
    ("counts", "partial", "told"),
    [
        ((17, 10, 4, 3, {}), None, "10 of 17 teams published a paper (3 had a paper in press, 4 w"),
        ((2, 2, 0, 0, {}), None, "All 2 teams published a paper"),
        ((1, 1, 0, 0, {}), None, "The one team published a paper"),
        ((3, 2, None, None, {"x": 1}), "stopped", "2 of 3 teams that had ended published a paper"),
    ],
)
def test_teams_that_published_are_counted_among_all(counts, partial, told):
    names = ("founded", "published", "running", "finished", "dissolved")
    summary = {"teams": dict(zip(names, counts, strict=True)), "partial": partial, "papers": 99}
    assert publishing(summary).startswith(told)
