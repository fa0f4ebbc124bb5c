"""Outcomes with and without the teams in which a default stands, worked by hand."""

import pytest

from virsci_society.metrics.teams.teams import outcomes_without_defaults


@pytest.fixture
def society_rows(rows, add_call):
    """Two teams with a paper, one that dissolved, one at work; the first has a default."""
    head = ("virsci", 4, 2)
    rows["teams"] = [
        ("A/1", "A", *head, 0.0, 5.0, 40.0, 50.0, "published", None, "abstract", "t", 0, 0, 0),
        ("B/1", "B", "virsci", 4, 4, 0.0, 5.0, 60.0, 70.0, "published", None, *("",) * 2, 0, 0, 0),
        ("C/1", "C", *head, 0.0, 5.0, 60.0, None, "dissolved", "no quorum", *("",) * 2, 0, 0, 0),
        ("D/1", "D", *head, 0.0, 5.0, None, None, "running", None, "topic", None, 0, 0, 0),
    ]
    rows["papers"] = [
        (team, team, "t", "a", date, "t", "") for team, date in (("A/1", 50.0), ("B/1", 70.0))
    ]
    rows["invitations"] = [
        ("A/1", "A", "X", 1.0, 2.0, "accepted", 0, 0, 0.5, False),
        ("B/1", "B", "X", 1.0, 2.0, "declined", 0, 0, 0.5, False),
        ("B/1", "B", "Y", 1.0, 2.0, "accepted", 0, 0, 0.5, False),
        ("C/1", "C", "Y", 1.0, 2.0, "full", 0, 0, 0.5, False),
    ]
    calls = []
    for team, turns, defaulted in (("A/1", 3, 1), ("B/1", 6, 0), ("C/1", 1, 0), ("D/1", 2, 2)):
        for turn in range(1, turns + 1):
            row = list(add_call(team, "topic", 1, turn, 0, "utter", team[0], 3.0))
            row[11] = turn <= defaulted
            calls.append((*row, "default" if row[11] else "strict", None))
    return rows | {"calls": calls, "members": [], "authorships": [], "meetings": []}


@pytest.fixture
def scored():
    """The measure novelty with an ON of 1 for A and 3 for B."""
    import pandas as pd

    from virsci_society.metrics.novelty.novelty import run_novelty
    from virsci_society.society.results.run import Run

    empty = run_novelty(Run.from_rows({}, {"seed": 0, "days": 0.0}, {}))
    table = pd.DataFrame({"paper": ["A/1", "B/1"], "ON": [1.0, 3.0], "HD": [0.5, None]})
    return table.reindex(columns=empty.columns).astype(empty.dtypes.to_dict())


def compared(run):
    table = outcomes_without_defaults(run).set_index("outcome")
    return {name: row.tolist() for name, row in table.iterrows()}


def test_the_means_with_and_without_by_hand(society_rows, scored, make_run):
    told = compared(make_run(society_rows, metrics={"novelty": scored}))
    assert told["with a paper"] == ["teams", 3, pytest.approx(2 / 3), 2, 0.5, pytest.approx(-1 / 6)]
    assert told["ON"] == ["papers", 2, 2.0, 1, 3.0, 1.0]
    assert told["size"] == ["teams", 2, 3.0, 1, 4.0, 1.0]
    assert told["days to paper"] == ["teams", 2, 60.0, 1, 70.0, 10.0]
    assert told["inference cost"] == ["teams", 2, 4.5, 1, 6.0, 1.5]
    shares = [pytest.approx(2 / 3), 2, 0.5, pytest.approx(-1 / 6)]
    assert told["acceptance"] == ["invitations", 3, *shares]


def test_values_that_are_missing_are_left_out_of_both(society_rows, scored, make_run):
    table = outcomes_without_defaults(make_run(society_rows, metrics={"novelty": scored}))
    row = table.set_index("outcome").loc["HD"]
    assert row[["n", "mean", "n_without"]].tolist() == [1, 0.5, 0]
    assert row[["mean_without", "difference"]].isna().all()


def test_where_every_team_has_a_default_there_is_no_mean_and_no_zero(society_rows, make_run):
    society_rows["calls"] = [(*row[:11], True, *row[12:]) for row in society_rows["calls"]]
    table = outcomes_without_defaults(make_run(society_rows))
    assert (table["n_without"] == 0).all()
    assert table[["mean_without", "difference"]].isna().all(axis=None)
    assert table.set_index("outcome").loc["size", "mean"] == 3.0


def test_where_it_is_not_known_what_was_defaulted_no_team_is_without(society_rows, make_run):
    society_rows["calls"] = [(*row[:11], None, *row[12:]) for row in society_rows["calls"]]
    assert (outcomes_without_defaults(make_run(society_rows))["n_without"] == 0).all()
