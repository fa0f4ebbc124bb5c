import numpy as np
import pytest

from virsci_society.metrics.teams.concurrency import acceptance_slope, days_held_up, weekly


@pytest.fixture
def weeks(run):
    return weekly(run).set_index("date")


def test_memberships_week_by_week_by_hand(weeks):
    assert weeks.loc[7.0, ["in_1", "in_2", "in_3", "max_memberships"]].tolist() == [4, 0, 0, 1]
    assert weeks.loc[14.0, ["in_1", "in_2", "in_3", "max_memberships"]].tolist() == [5, 1, 0, 2]
    assert weeks.loc[14.0, "mean_memberships"] == pytest.approx(6 / 5)
    assert weeks["mean_memberships"].isna().tolist()[0]


def test_a_round_lasts_until_the_last_has_finished(run):
    """S1/1: from 8.5 to 10.5 with efforts of 0.5 and 1; S5/1: S1's piece is not done yet."""
    assert days_held_up(run) == {"S1/1": 1.0, "S5/1": 0.0}


def test_separated_answers_are_not_estimable(run, empty_run):
    row = acceptance_slope(run).iloc[0]
    assert row["note"].startswith("not estimable")
    assert row[["slope", "low", "high"]].isna().all()
    assert acceptance_slope(empty_run).iloc[0]["n"] == 0


def test_the_slope_is_negative_where_load_deters(rows, make_run):
    rng = np.random.default_rng(0)
    invitations = []
    for load in (0, 1, 2, 3):
        for n in range(60):
            said = rng.random() < 1 / (1 + np.exp(-(1.5 - load)))
            outcome = "accepted" if said else "declined"
            sent = float(n)
            row = ("S1/1", "S1", f"X{n}", sent, sent + 1, outcome, load, 0, 0.1, load > 0)
            invitations.append(row)
    rows["invitations"] = invitations
    row = acceptance_slope(make_run(rows)).iloc[0]
    assert row["note"] == "estimated"
    assert row["low"] < -1 < row["high"] < 0
    assert row["n"] == 240
