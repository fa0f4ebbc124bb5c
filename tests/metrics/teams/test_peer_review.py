"""Measures of review before publication, worked out by hand from two manuscripts."""

import math

import pandas as pd
import pytest

from virsci_society.metrics.registry import measure_run
from virsci_society.metrics.report.page import render_page
from virsci_society.metrics.teams.peer_review import review_outcomes
from virsci_society.society.results.run import Run

SUBMISSIONS = [
    ("A/1", 1, 1, 0.0, 20.0, "revise", 2, 5.5),
    ("A/1", 1, 2, 30.0, 50.0, "accept", 2, 8.0),
    ("B/1", 1, 1, 10.0, 40.0, "reject", 1, 3.0),
    ("B/1", 2, 1, 60.0, None, None, None, None),
]
REFEREES = [
    ("A/1", 1, 1, 0, "R1", 0, 0, 2.0, 5.0, "delivered", 5.0, 8.0, 0, "revise", 5.0),
    ("A/1", 1, 1, 1, "R2", 2, 0, 2.0, 5.0, "declined", None, None, 0, None, None),
    ("A/1", 1, 1, 1, "R3", 1, 0, 5.0, 8.0, "delivered", 8.0, 19.0, 1, "accept", 6.0),
    ("A/1", 1, 2, 0, "R1", 0, 0, None, None, "delivered", 31.0, 33.0, 0, "accept", 8.0),
    ("A/1", 1, 2, 1, "R3", 1, 0, None, None, "delivered", 31.0, 32.0, 0, "accept", 8.0),
    ("B/1", 1, 1, 0, "R1", 0, 1, 11.0, 14.0, "delivered", 14.0, 30.0, 0, "reject", 3.0),
    ("B/1", 1, 1, 1, "R4", 3, 0, 11.0, 14.0, "late", 14.0, None, 2, None, None),
    ("B/1", 2, 1, 0, "R2", 2, 0, 61.0, None, None, None, None, 0, None, None),
]


@pytest.fixture
def reviewed(make_run):
    """The hand-made run with these manuscripts in it."""

    def made(submissions=SUBMISSIONS, referees=REFEREES):
        whole = make_run()
        rows = {
            name: list(whole.table(name).itertuples(index=False, name=None))
            for name in whole.tables()
        }
        rows |= {"submissions": submissions, "referees": referees}
        return Run.from_rows(rows, whole.manifest, whole.scenario)

    return made


def test_outcomes_of_two_manuscripts(reviewed):
    (told,) = review_outcomes(reviewed()).to_dict("records")
    assert told == pytest.approx(
        {
            "manuscripts": 2,
            "submissions": 3,
            "decided": 2,  # one is accepted, one rejected; the third is open
            "accepted": 1,
            "acceptance": 1 / 2,
            "rounds": (2 + 1) / 2,
            "days": (50 + 30) / 2,
            "asked": 5,  # one of the six invited has not answered
            "declined": 1 / 5,
            "assigned": 6,
            "late": 2 / 6,  # R3 was reminded, R4 given up
            "reviews": (2 + 2 + 1) / 3,
            "reviewers": 2,
            "load": (3 + 2) / 2,
            "gini": 1 / 10,
            "same": 1 / 2,  # accept and accept; not revise and accept
            # Squared differences: 1 and 0 within a round, 27 over the six pairs of 5, 6, 8, 8.
            "agreement": 1 - (2 * 1 / 4) / (2 * 27 / 12),
        }
    )


def test_measures_of_the_whole_run(reviewed):
    wanted = {
        "review_acceptance": 0.5,
        "days_in_review": 40.0,
        "reviews_late": 1 / 3,
        "reviewer_load": 2.5,
        "gini_reviews": 0.1,
        "reviewer_agreement": 1 - 0.5 / 4.5,
    }
    assert measure_run(reviewed(), wanted) == pytest.approx(wanted)


def test_without_review_there_is_nothing_to_tell(make_run):
    run = make_run()
    (told,) = review_outcomes(run).to_dict("records")
    counts = ("manuscripts", "submissions", "decided", "accepted", "asked", "assigned", "reviewers")
    assert {told.pop(name) for name in counts} == {0}
    assert all(pd.isna(value) for value in told.values())
    assert math.isnan(measure_run(run, ["review_acceptance"])["review_acceptance"])


@pytest.mark.slow
def test_the_page_tells_of_it_only_where_there_was_any(reviewed, make_run):
    assert "mean number of reviews per reviewer" in render_page(reviewed())
    assert "mean number of reviews per reviewer" not in render_page(make_run())


@pytest.mark.slow
def test_a_lot_asks_nobody(reviewed):
    lots = [
        ("A/1", 1, 1, 0.0, 90.0, "accept", 0, None),
        ("B/1", 1, 1, 1.0, 91.0, "reject", 0, None),
    ]
    run = reviewed(lots, [])
    (told,) = review_outcomes(run).to_dict("records")
    assert (told["acceptance"], told["days"], told["reviews"]) == (0.5, 90.0, 0.0)
