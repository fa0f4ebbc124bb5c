import numpy as np
import pytest

from virsci_society.metrics.teams.concurrency import acceptance_slope, rounds, waiting, weekly


@pytest.fixture
def weeks(run):
    return weekly(run).set_index("date")


def test_memberships_week_by_week_by_hand(weeks):
    assert weeks.loc[7.0, ["in_1", "in_2", "in_3", "max_memberships"]].tolist() == [4, 0, 0, 1]
    assert weeks.loc[14.0, ["in_1", "in_2", "in_3", "max_memberships"]].tolist() == [5, 1, 0, 2]
    assert weeks.loc[14.0, "mean_memberships"] == pytest.approx(6 / 5)
    assert weeks["mean_memberships"].isna().tolist()[0]


def test_waiting_by_size(run):
    table = waiting(run).set_index("size")
    assert table.loc[4, ["meetings", "meeting_wait"]].tolist() == [2, 1.5]
    assert table.loc[4, "notice"] == 3.5
    assert table.loc[2, ["meetings", "meeting_wait", "notice"]].tolist() == [1, 1, 2]
    assert table.loc[4, ["homework", "homework_queue"]].tolist() == [2, 0.5]
    assert table.loc[2, ["homework", "homework_queue"]].tolist() == [2, 1.5]


def test_a_team_is_held_up_by_the_homework_of_other_projects(run):
    """S1/1: ready 2 days after the meeting with a longest effort of 1, and meetings wait 1.5."""
    table = waiting(run).set_index("size")
    assert table.loc[4, ["rounds", "held_up"]].tolist() == [1, 1.0 + 1.5]
    assert table.loc[2, ["rounds", "held_up"]].tolist() == [1, 0.0 + 1.0]


def test_a_round_lasts_until_the_last_has_finished(run):
    """S1/1: from 8.5 to 10.5 with efforts of 0.5 and 1; S5/1: S1's piece is not done yet."""
    table = rounds(run).set_index("team")
    assert table.loc["S1/1", ["effort", "held_up"]].tolist() == [1.0, 1.0]
    assert table.loc["S5/1", ["effort", "held_up"]].tolist() == [2.0, 0.0]


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
