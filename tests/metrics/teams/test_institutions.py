"""Where authors worked on the date of a paper, and how far apart, worked by hand."""

import math

import pytest

from tests.hand_run import full
from virsci_society.metrics.teams.institutions import great_circle, institutions, team_places
from virsci_society.society.results.run import Run

HOME = {"A": "Rome", "B": "Oslo", "C": "Rome"}
PLACES = {"Rome": (0.0, 0.0), "Oslo": (0.0, 90.0), "Quito": (0.0, 180.0)}


@pytest.fixture
def run():
    """A moves from Rome to Oslo on day 20, D comes to Quito on day 15; of E nothing is known."""
    rows = full(
        {
            "scientists": [
                *((who, "t", 1, 1, 2000, None, HOME[who]) for who in "ABC"),
                ("D", "t", 0, 0, None, 15.0, "Quito"),
                ("E", "t", 0, 0, None, None, None),
            ],
            "careers": [("A", 20.0, "moved", "Oslo"), ("D", 15.0, "arrived", "Quito")],
            "papers": [
                *(("p1", "x", "t", "a", 10.0), ("p2", "x", "t", "a", 20.0)),
                *(("p3", "x", "t", "a", 20.5), ("p4", "x", "t", "a", 30.0)),
                ("p5", "x", "t", "a", 31.0),
            ],
            "authorships": [
                *(("p1", "A", 0), ("p1", "B", 1), ("p1", "C", 2)),
                *(("p2", "A", 0), ("p2", "B", 1)),
                *(("p3", "A", 0), ("p3", "B", 1), ("p3", "E", 2)),
                *(("p4", "B", 0), ("p4", "D", 1)),
                *(("p5", "A", 0), ("p5", "E", 1)),
            ],
        }
    )
    return Run.from_rows(rows, {"seed": 1, "days": 100.0}, {})


def test_authors_are_where_they_worked_just_before_the_paper(run):
    table = institutions(run).set_index(["paper", "scientist"])["institution"]
    assert table["p1"].to_dict() == {"A": "Rome", "B": "Oslo", "C": "Rome"}
    assert table["p2", "A"] == "Rome", "a move of the day itself holds after it"
    assert table["p3", "A"] == "Oslo"
    assert table["p4", "D"] == "Quito"
    assert table.isna()["p3", "E"]


def test_teams_at_one_place_and_at_several(run):
    table = team_places(run).set_index("paper")
    assert table["institutions"].to_dict() == {"p1": 2, "p2": 2, "p3": 1, "p4": 2, "p5": 1}
    assert table["known"].to_dict() == {"p1": 3, "p2": 2, "p3": 2, "p4": 2, "p5": 1}
    assert table["apart"].dropna().to_dict() == pytest.approx(
        {"p1": 2 / 3, "p2": 1.0, "p3": 0.0, "p4": 1.0}
    )
    assert table["remote"].dropna().to_dict() == {"p1": True, "p2": True, "p3": False, "p4": True}
    assert table.at["p4", "why"] == "not measurable: the places of its institutions are not known"
    assert table.at["p5", "why"].startswith("not measurable: it is not known where two")
    assert table["distance"].dropna().to_dict() == {"p3": 0.0}, "one institution needs no place"


def test_distances_on_a_great_circle(run):
    quarter = math.pi / 2 * 6371.0088
    assert great_circle(PLACES["Rome"], PLACES["Oslo"]) == pytest.approx(quarter)
    assert great_circle((90.0, 0.0), (-90.0, 50.0)) == pytest.approx(2 * quarter)
    assert great_circle((48.1, 11.6), (48.1, 11.6)) == 0
    table = team_places(run, PLACES).set_index("paper")["distance"].dropna()
    assert table.to_dict() == pytest.approx(
        {"p1": 2 / 3 * quarter, "p2": quarter, "p3": 0, "p4": quarter}
    )
    some = team_places(run, {"Rome": (0.0, 0.0), "Oslo": (0.0, 90.0)}).set_index("paper")
    assert some["distance"].isna().to_dict()["p4"], "of a team, one place is not known"
