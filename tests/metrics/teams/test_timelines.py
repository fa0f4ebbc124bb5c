import pytest

from virsci_society.metrics.teams.concurrency import (
    held_attention,
    pieces,
    project_spans,
    projects,
    rounds,
)

WAITED = ("gathering", "desk_queue", "notice", "meeting_queue")
PARTS = ("meetings", "effort", "switching", *WAITED, "other")


@pytest.mark.slow
@pytest.mark.parametrize("attention", ["on", "unlimited"])
def test_a_round_is_exactly_the_sum_of_its_parts(busy_and_free_runs, attention):
    table = pieces(busy_and_free_runs[attention])
    assert len(table) > 100
    four = table["desk_queue"] + table["teammates"] + table["notice"] + table["meeting_queue"]
    assert (table["waiting"] == four).all()
    assert (table["elapsed"] == table["effort"] + table["switching"] + four).all()
    assert (table[["effort", "switching", "desk_queue", "teammates"]] >= 0).all(axis=None)
    assert (table[["notice", "meeting_queue"]] >= 0).all(axis=None)


@pytest.mark.slow
@pytest.mark.parametrize("attention", ["on", "unlimited"])
def test_the_time_of_a_team_is_exactly_the_sum_of_its_parts(busy_and_free_runs, attention):
    run = busy_and_free_runs[attention]
    table, teams = projects(run), run.table("teams").set_index("team")
    assert len(table) > 10
    assert (table[list(PARTS)].sum(axis=1) == table["elapsed"]).all()
    assert (table[list(PARTS)] >= 0).all(axis=None)
    assert (table[list(WAITED)].sum(axis=1) == table["waiting"]).all()
    # Nothing is left over where the work was done to its end.
    done = table[table["state"].isin(["published", "finished"])]
    assert len(done)
    assert (done["other"] == 0).all()
    spans = teams["finished"] - teams["founded"]
    assert (table.set_index("team")["elapsed"] == spans.dropna()).all()


@pytest.mark.slow
def test_what_queues_cost_is_gone_where_attention_is_unlimited_and_the_rest_stays(
    busy_and_free_runs,
):
    busy, free = (pieces(busy_and_free_runs["on"]), pieces(busy_and_free_runs["unlimited"]))
    assert (busy["desk_queue"] > 0).any()
    assert (busy["switching"] > 0).any()
    assert (free[["desk_queue", "meeting_queue", "switching"]] == 0).all(axis=None)
    assert (rounds(busy_and_free_runs["unlimited"])["held_up"] == 0).all()
    assert held_attention(busy_and_free_runs["unlimited"])["idle_share"].tolist() == [0.0]
    assert held_attention(busy_and_free_runs["on"])["idle_share"].iloc[0] < 0.05
    # The slowest of several is waited for by all, and every meeting has its notice.
    assert (free["teammates"] > 0).any()
    assert (free["notice"] == 7).all()


def test_homework_broken_off_and_a_meeting_never_held_are_the_rest(make_run):
    rows = {
        "teams": [
            ("A/1", "A", "virsci", 1, 1, 0.0, 0.0, 20.0, None, "dissolved", "gave up"),
            ("B/1", "A", "virsci", 1, 1, 0.0, 0.0, None, None, "running", None),
        ],
        "meetings": [
            ("A/1", "topic", 1, 1, 2.0, 9.0, 10.0, 11.0, 1, None),
            ("B/1", "topic", 1, 1, 2.0, 9.0, 10.0, 11.0, 1, None),
        ],
        "homework": [("A/1", "A", "topic", 1, 1, 11.0, 12.0, 15.0, 3.0)],
    }
    (row,) = projects(make_run(rows)).to_dict("records")
    assert [row[part] for part in PARTS] == [1, 3, 0, 2, 1, 7, 1, 5]
    assert row["waiting"] == 2 + 1 + 7 + 1


def test_a_team_waits_for_the_last_of_a_round_only(make_run):
    rows = {
        "teams": [("A/1", "A", "virsci", 2, 2, 0.0, 0.0, 9.0, None, "finished", None)],
        "members": [
            ("A/1", "A", "leader", 0.0, 9.0, True, 0),
            ("A/1", "B", "member", 0.0, 9.0, True, 0),
        ],
        "meetings": [("A/1", "topic", 1, 1, 0.0, 0.0, 0.0, 1.0, 2, None)],
        "homework": [
            ("A/1", "A", "topic", 1, 1, 1.0, 1.0, 6.0, 5.0),
            ("A/1", "B", "topic", 1, 1, 1.0, 6.5, 9.0, 2.5),
        ],
    }
    run = make_run(rows)
    (team,) = projects(run).to_dict("records")
    assert (team["effort"], team["desk_queue"], team["meetings"]) == (2.5, 5.5, 1)


def test_the_spans_of_a_team_add_up_to_its_row_of_projects(run):
    spans = project_spans(run)
    days = (spans["end"] - spans["start"]).groupby([spans["team"], spans["kind"]]).sum()
    table = projects(run).set_index("team")
    for team in table.index:
        assert abs(float(days.get((team, "effort"), 0.0)) - float(table.at[team, "effort"])) < 1e-9
    some = list(table.index)[:1]
    assert set(project_spans(run, some)["team"]) <= set(some)
