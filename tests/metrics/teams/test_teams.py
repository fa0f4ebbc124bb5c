import pytest

from virsci_society.metrics.teams.teams import diversity, freshness, members_at_end, teams, unique
from virsci_society.society.results.run import Run


@pytest.fixture
def table(run):
    return teams(run).set_index("team")


def test_of_meetings_of_teams_that_are_not_in_the_table_yet_nobody_has_waited(put, rows):
    early = Run.open(put("early", rows | {"teams": [], "homework": []}))
    assert teams(early)["waiting"].tolist() == []


def test_freshness_of_four_with_one_old_pair():
    assert freshness(["a", "b", "c", "d"], {("a", "b")}) == 0.5
    assert freshness(["a", "b", "c", "d"], {("a", "b"), ("b", "c")}) == 0.25
    assert freshness(["b", "a"], {("a", "b")}) == 0.0
    assert freshness(["a", "b", "c"], set()) == 1.0


def test_diversity_counts_topics():
    assert diversity(["x", "x", "y", "z"]) == 0.75
    assert unique(["x", "x", "y", "z"]) == 0.5
    assert diversity(["x"] * 4) == 0.25
    assert unique(["x"] * 4) == 0.0


def test_a_team_of_one_is_fresh_and_diverse(table):
    assert table.loc["S6/1", ["size", "freshness", "diversity", "unique"]].tolist() == [1, 1, 1, 1]


def test_composition_by_hand(table):
    row = table.loc["S1/1"]
    assert row["size"] == 4
    assert row["freshness"] == 0.5  # S1 and S2 had published together
    assert row["diversity"] == 0.75  # graphs, graphs, vision, speech
    assert row["unique"] == 0.5
    assert row["leader_papers"] == 10
    assert row["leader_years"] == pytest.approx(15 + 2 / 365)
    assert row["newcomers"] == 0.25  # S4 had no paper
    assert row["elsewhere"] == 0.25  # S1 joined S5/1 while here
    assert table.loc["S5/1", "elsewhere"] == 0.5
    assert table.loc["S5/1", "freshness"] == 0.0


def test_the_way_to_a_paper_by_hand(table):
    row = table.loc["S1/1"]
    assert row["days_to_paper"] == 48
    assert row["meetings"] == 2
    # A meeting held 3 days late, and a round that took a day longer than its longest effort.
    assert row["waiting"] == 3 + 1
    assert row["consultations"] == 1
    assert table["consulted"].tolist() == [0, 1, 0]
    assert table.loc["S5/1", "days_to_paper"] is not None
    assert table["days_to_paper"].isna().tolist() == [False, True, True]


def test_invitations_by_outcome(table):
    columns = ["invited", "accepted", "declined", "full", "unanswered"]
    assert table.loc["S1/1", columns].tolist() == [3, 3, 0, 0, 0]
    assert table.loc["S5/1", columns].tolist() == [2, 1, 1, 0, 0]
    assert table.loc["S6/1", columns].tolist() == [3, 0, 1, 1, 1]


def test_an_invitee_who_has_left_is_among_the_unanswered(rows, make_run):
    rows["invitations"][-1] = ("S6/1", "S6", "S7", 29.0, 30.0, "gone", 0, 0, 0.5, False)
    table = teams(make_run(rows)).set_index("team")
    outcomes = ["accepted", "declined", "full", "unanswered"]
    assert table.loc["S6/1", outcomes].tolist() == [0, 1, 1, 1]
    assert (table[outcomes].sum(axis=1) == table["invited"]).all()


def test_ties_on_the_day_of_founding_do_not_count(rows, make_run):
    rows["ties"] = [("S1", "S2", 2.0, 1), ("S3", "S4", 1.9, 1)]
    table = teams(make_run(rows)).set_index("team")
    assert table.loc["S1/1", "freshness"] == 0.5
    rows["ties"] = [("S1", "S2", 2.0, 1)]
    assert teams(make_run(rows)).set_index("team").loc["S1/1", "freshness"] == 1.0


def test_own_papers_make_people_experienced(rows, make_run):
    rows["papers"].append(("X", "X", "t", "a", 5.0, None, ""))
    rows["authorships"] += [("X", "S5", 0), ("X", "S6", 1)]
    table = teams(make_run(rows)).set_index("team")
    assert table.loc["S5/1", "leader_papers"] == 8
    assert table.loc["S6/1", "leader_papers"] == 4


def test_those_who_left_are_not_counted(rows, make_run):
    members = [list(row) for row in rows["members"]]
    members[2][4:6] = [20.0, False]
    rows["members"] = [tuple(row) for row in members]
    run = make_run(rows)
    assert members_at_end(run)["S1/1"] == ["S1", "S2", "S4"]
    row = teams(run).set_index("team").loc["S1/1"]
    assert row["size"] == 3
    assert row["diversity"] == pytest.approx(2 / 3)


def test_the_share_of_kept_ideas_that_tied(rows, make_run):
    rows["teams"] = [
        (*row[:-1], ties) for row, ties in zip(rows["teams"], (2, 0, None), strict=True)
    ]
    tied = teams(make_run(rows)).set_index("team")["tied"]
    assert tied["S1/1"] == pytest.approx(2 / 3)
    assert tied["S5/1"] == 0
    assert tied.isna()["S6/1"]
