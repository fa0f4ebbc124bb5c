"""Papers by stars, their collaborators and others, worked by hand."""

import pytest

from tests.hand_run import full
from virsci_society.metrics.networks.removals import around_stars
from virsci_society.society.results.run import Run


@pytest.fixture
def rows():
    """S1 to S10 wrote with P1 and P2 before; S11 to S13 with nobody of them."""
    ties = [(f"S{n}", one, -1.0, 1) for n in range(1, 11) for one in ("P1", "P2", f"Q{n}")]
    ties += [("S11", "S12", -1.0, 1), ("S11", "S13", 60.0, 1)]
    papers = {
        "before": (30.0, ["S1", "S11"]),
        "early": (45.0, ["S11", "S12"]),
        "with": (49.0, ["P3", "Q1"]),
        "after": (50.0, ["S12"]),
        "new": (70.0, ["N1", "S13"]),
        "late": (100.0, ["Q2", "N1"]),
    }
    return full(
        {
            "ties": ties,
            "papers": [(name, name, "t", "a", date) for name, (date, _) in papers.items()],
            "authorships": [
                (name, who, at)
                for name, (_, authors) in papers.items()
                for at, who in enumerate(authors)
            ],
        }
    )


def told(rows, **more):
    return around_stars(Run.from_rows(rows | more, {"seed": 1, "days": 100.0}, {}))


def test_counts_by_hand(rows):
    (row,) = told(rows).to_dict("records")
    # P1 and P2 have ten co-authors each; S1 to S8 have three, and of equals the first come first.
    assert (row["date"], row["span"], row["stars"]) == (50.0, 50.0, 10)
    assert row["collaborators"] == 2 + 8, "S9, S10 and Q1 to Q8"
    assert (row["stars_before"], row["collaborators_before"], row["others_before"]) == (1, 1, 1)
    assert (row["stars_after"], row["collaborators_after"], row["others_after"]) == (0, 1, 2)
    assert row["others_cited"] is None or row["others_cited"] != row["others_cited"]


def test_citations_and_the_date_of_a_removal(rows):
    cited = full({"citations": [("late", "new", 100.0, True), ("late", "before", 100.0, True)]})
    gone = full({"careers": [("S1", 50.0, "removed"), ("P1", 50.0, "removed")]})
    (row,) = told(rows, **cited).to_dict("records")
    assert row["others_cited"] == 1
    assert told(rows, **cited, **gone).equals(told(rows, **cited)), "they were there before the day"
    left = full({"careers": [("P1", 40.0, "retired")]})
    (other,) = told(rows, **left).to_dict("records")
    assert other["collaborators"] != row["collaborators"]
    assert told({}).empty
