"""What was found out, by hand: four claims, of which one is false and one refuted."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from virsci_society.metrics.idea_quality import (
    discovery,
    independent_projects,
    record,
    without_society,
)
from virsci_society.metrics.registry import empty_run
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.execute import run_scenario
from virsci_society.society.results.run import Run

TEAMS = {"A": 40.0, "B": 50.0, "C": 60.0, "D": None, "E": 70.0, "F": 80.0, "G": None, "H": 90.0}
"""Team -> date of its paper."""
OUTCOMES = [
    # team, started, ended, worth, outcome, state, success, replicates
    ("A", 0.0, 30.0, 0.9, 0.8, "succeeded", 0.5, None),  # true
    ("B", 0.0, 40.0, 0.2, 0.6, "succeeded", 0.5, None),  # false, refuted by E
    ("C", 10.0, 50.0, 0.4, 0.55, "succeeded", 0.5, None),  # false, F confirms it by luck
    ("D", 10.0, 40.0, 0.1, 0.0, "failed", 0.5, None),  # stays in the drawer
    ("E", 55.0, 65.0, 0.2, 0.1, "failed", 0.5, "B"),
    ("F", 65.0, 75.0, 0.4, 0.7, "succeeded", 0.5, "C"),
    ("G", 0.0, 20.0, None, None, "given_up", 0.5, None),
    ("H", 60.0, 80.0, 0.6, 0.9, "succeeded", 0.5, None),  # true
]


@pytest.fixture
def run(rows, make_run):
    like = rows["teams"][0]
    place = 8  # of the column ``published``
    rows["teams"] = [
        (name, *like[1:place], date, *like[place + 1 :]) for name, date in TEAMS.items()
    ]
    rows["outcomes"] = [(*row, 2.5, None) for row in OUTCOMES]
    return make_run(rows)


def test_a_whole_run(run):
    (row,) = discovery(run).to_dict("records")
    assert (row["attempts"], row["succeeded"], row["failed"], row["given_up"]) == (8, 5, 2, 1)
    assert (row["replications"], row["claims"], row["discoveries"]) == (2, 4, 2)
    assert row["worth_published"] == pytest.approx((0.9 + 0.2 + 0.4 + 0.2 + 0.4 + 0.6) / 6)
    assert row["worth_unpublished"] == pytest.approx(0.1)
    assert row["best"] == 0.9
    assert row["drawer"] == 0.5
    # 30, 10 and 20 of 30 + 40 + 40 + 30 + 10 + 10 + 20 + 20 days.
    assert row["wasted"] == pytest.approx(60 / 200)
    assert row["replicated"] == 0.5
    assert row["false_claims"] == 0.5
    # B is refuted: of A, C and H one is false.
    assert row["false_on_record"] == pytest.approx(1 / 3)
    assert (row["spent"], row["per_money"]) == (8 * 2.5, 2 / 20)
    people = len(run.table("scientists"))
    assert row["per_scientist_year"] == pytest.approx(2 / (people * run.days / 365.0))


def test_ratings_are_held_against_what_became_of_ideas(rows, run, make_run):
    (none,) = discovery(run)[["drop", "foresight"]].to_dict("records")
    assert (pd.isna(none["drop"]), pd.isna(none["foresight"])) == (True, True)
    ratings = {"A": 1.0, "B": 0.9, "C": 0.8, "D": 0.5, "G": None}
    rows["outcomes"] = [(*row, 2.5, ratings.get(row[0])) for row in OUTCOMES]
    (row,) = discovery(make_run(rows)).to_dict("records")
    assert row["drop"] == pytest.approx((0.2 + 0.3 + 0.25 + 0.5) / 4)
    expected = np.corrcoef([1.0, 0.9, 0.8, 0.5], [0.8, 0.6, 0.55, 0.0])[0, 1]
    assert row["foresight"] == pytest.approx(expected)


def test_an_idea_with_the_keywords_of_an_earlier_one_is_duplicated(rows, run, make_run):
    words = {"A": "x; y", "B": "z", "C": "y; x", "E": "z", "F": "x", "H": "x; y"}
    like, place = rows["papers"][0], 6  # of the column ``keywords``
    rows["papers"] = [
        (name, name, *like[2:4], TEAMS[name], like[5], said, *like[place + 1 :])
        for name, said in words.items()
    ]
    (row,) = discovery(make_run(rows)).to_dict("records")
    # C and H have the keywords of A; E and F repeat a paper on purpose.
    assert row["duplicated"] == 2 / 4


def test_successes_are_cited_more_or_less_than_failures(rows, run, make_run):
    assert discovery(run)["citation_gain"].tolist() == [0.0]
    rows["citations"] = [("H", cited, 90.0, True) for cited in ("A", "A", "F", "E", "D", "old")]
    # Published successes A, B, C, F, H are cited 3 times in all, the published failure E once.
    (gain,) = discovery(make_run(rows))["citation_gain"].tolist()
    assert gain == pytest.approx(3 / 5 - 1)


def test_the_record_by_date(run):
    table = record(run, every=55.0).set_index("date")
    assert table.index.tolist() == [0.0, 55.0, run.days]
    assert table["attempts"].tolist() == [0, 5, 8]
    assert table["claims"].tolist() == [0, 2, 3]
    assert table.loc[55.0, "false"] == 0.5  # A and B: nobody has repeated B yet
    assert table.loc[run.days, "false"] == pytest.approx(1 / 3)
    assert table["best"].dropna().tolist() == [0.9, 0.9]


def test_where_nothing_is_carried_out_nothing_is_found(make_run):
    (row,) = discovery(make_run()).to_dict("records")
    assert row["attempts"] == row["claims"] == 0
    assert pd.isna(row["per_money"])
    assert len(record(make_run())) == 0


def test_independent_projects_by_integrals():
    reach = stats.norm(scale=0.2).cdf
    claims = 0.4 * reach(-0.5) + 0.6 * integrate.quad(lambda worth: reach(worth - 0.5), 0, 1)[0]
    true = 0.6 * integrate.quad(lambda worth: reach(worth - 0.5), 0.5, 1)[0]
    found = independent_projects(worthless=0.4, noise=0.2)
    assert [found["claims"], found["discoveries"]] == pytest.approx([claims, true], abs=0.005)
    assert found["false_on_record"] == pytest.approx(1 - true / claims, abs=0.01)
    # A claim is off the record by 1, 2, ... failures more than successes, as a random walk ends.
    repeated = independent_projects(0.4, 0.2, replication=0.5)
    assert repeated["claims"] == pytest.approx(claims / 2, abs=0.005)
    assert repeated["false_on_record"] < independent_projects(0.4, 0.2, 0.5, 0, 0.9,
        replication=0.5)["false_on_record"] < found["false_on_record"]  # fmt: skip
    assert independent_projects(success=4, noise=0.1)["false_on_record"] is None


@pytest.mark.slow
@pytest.mark.parametrize("keys", [{"funding": {"accept": 0.25, "signal": 0.6, "lottery": 0.3}}, {}])
def test_a_society_without_learning_finds_what_independent_projects_find(tmp_path, keys):
    attempt = {"use": "attempt", "noise": 0.3, "overrated": {"wordless": 0.1}, **keys}
    scenario = load_scenario("community/assembly", metrics=[], worth={"use": "landscape"},
        execution=attempt, **{"founding.teams_per_year": 700})  # fmt: skip
    run = Run.open(run_scenario(scenario, tmp_path / "run", page=False))
    (ours,), (theirs,) = (of(run).to_dict("records") for of in (discovery, without_society))
    assert ours["claims"] == pytest.approx(theirs["claims"], rel=0.25)
    for name in ("false_on_record", "worth_published", "drop", "foresight"):
        assert ours[name] == pytest.approx(theirs[name], abs=0.09), name
    assert without_society(empty_run()).empty
