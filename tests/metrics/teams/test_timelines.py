import pytest

from virsci_society.metrics.teams.concurrency import pieces, project_spans, rounds


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
def test_what_queues_cost_is_gone_where_attention_is_unlimited_and_the_rest_stays(
    busy_and_free_runs,
):
    busy, free = (pieces(busy_and_free_runs["on"]), pieces(busy_and_free_runs["unlimited"]))
    assert (busy["desk_queue"] > 0).any()
    assert (busy["switching"] > 0).any()
    assert (free[["desk_queue", "meeting_queue", "switching"]] == 0).all(axis=None)
    assert (rounds(busy_and_free_runs["unlimited"])["held_up"] == 0).all()
    # The slowest of several is waited for by all, and every meeting has its notice.
    assert (free["teammates"] > 0).any()
    assert (free["notice"] == 7).all()


def test_a_team_waits_for_the_last_of_a_round_only(make_run):
    rows = {
        "teams": [
            ("A/1", "A", "virsci", 2, 2, 0.0, 0.0, 19.5, None, "finished", None),
            ("C/1", "C", "virsci", 1, 1, 0.0, 0.0, 9.0, None, "dissolved", "gave up"),
        ],
        "meetings": [("A/1", "topic", 1, 1, 2.0, 9.0, 10.0, 11.0, 2, None)],
        "homework": [
            ("A/1", "A", "topic", 1, 1, 11.0, 11.0, 16.0, 5.0),
            ("A/1", "B", "topic", 1, 1, 11.0, 16.5, 19.5, 2.5, 0.5),
        ],
    }
    run = make_run(rows)
    spans = project_spans(run).set_index(["team", "kind"])
    assert dict(spans.apply(list, axis=1)) == {
        ("A/1", "gathering"): [0, 2],
        ("A/1", "notice"): [2, 9],
        ("A/1", "meeting_queue"): [9, 10],
        ("A/1", "meetings"): [10, 11],
        ("A/1", "desk_queue"): [11, 16.5],
        ("A/1", "switching"): [16.5, 17],
        ("A/1", "effort"): [17, 19.5],
        ("C/1", "gathering"): [0, 9],
    }
    assert set(project_spans(run, ["C/1"])["team"]) == {"C/1"}
