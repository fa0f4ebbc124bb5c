import pytest

from virsci_society import load_scenario, run_scenario
from virsci_society.metrics.registry import measure_run
from virsci_society.metrics.teams.concurrency import days_held_up, pieces, project_spans
from virsci_society.society.results.run import Run


@pytest.fixture
def week(make_run):
    """A team of two: homework from day 1, a meeting called on day 6 for 13, held on 14.

    Its leader has 2 days of work and waits a day for another project; the member needs 3 days
    and has 2 days of queue.
    """
    rows = {
        "teams": [("A/1", "A", "virsci", 2, 2, 0.0, 0.0, None, None, "running", None)],
        "members": [
            ("A/1", "A", "leader", 0.0, None, None, 0),
            ("A/1", "B", "member", 0.0, None, None, 0),
            ("C/1", "A", "member", 0.0, None, None, 0),
        ],
        "homework": [
            ("A/1", "A", "topic", 1, 1, 1.0, 2.0, 4.0, 2.0),
            ("A/1", "B", "topic", 1, 1, 1.0, 3.0, 6.0, 3.0),
        ],
        "meetings": [
            ("A/1", "topic", 1, 1, 0.0, 0.5, 0.5, 1.0, 2, None),
            ("A/1", "topic", 1, 2, 6.0, 13.0, 14.0, 14.5, 2, "A"),
        ],
    }
    return rows


def test_the_measures_of_waiting_by_hand(week, make_run):
    by_hand = {
        "waiting_round": 13 - 2.5,
        "pieces.desk_queue.mean": 1.5,
        "pieces.teammates.mean": 1,
        "pieces.notice.mean": 7,
        "pieces.meeting_queue.mean": 1,
        "memberships_at_homework": (2 + 1) / 2,
    }
    assert measure_run(make_run(week), by_hand) == by_hand


def test_turning_from_another_project_is_neither_work_nor_waiting(week, make_run):
    week["homework"][0] = ("A/1", "A", "topic", 1, 1, 1.0, 2.0, 4.0, 1.75, 0.25)
    one, other = pieces(make_run(week)).to_dict("records")
    assert (one["scientist"], one["effort"], one["switching"]) == ("A", 1.75, 0.25)
    assert (one["desk_queue"], one["teammates"], one["elapsed"]) == (1, 2, 13)
    assert one["elapsed"] == one["effort"] + one["switching"] + one["waiting"]
    assert other["switching"] == 0


def test_homework_that_no_meeting_followed_is_left_out(week, make_run):
    week["meetings"] = week["meetings"][:1]
    assert pieces(make_run(week)).empty


KEYS = {
    "until": "200d",
    "metrics": ["concurrency"],
    "founding.teams_per_year": 2.5,
    "population.ecosystem.scientists": 24,
    "population.ecosystem.papers": 200,
    "time.switching": "2h",
}


@pytest.fixture(scope="module")
def busy_and_free_runs(tmp_path_factory):
    """Busy people who lose two hours with every turn, with and without queues, unmeasured."""
    place = tmp_path_factory.mktemp("busy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("virsci_society.metrics.report.page.write_page", lambda *_: None)
        patch.setattr("virsci_society.scenarios.runs.run_folder.measure_all", lambda *_: {})
        for attention in ("on", "unlimited"):
            scenario = load_scenario("quickstart", **KEYS, attention=attention)
            run_scenario(scenario, place / attention)
    return {attention: Run.open(place / attention) for attention in ("on", "unlimited")}


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
    assert set(days_held_up(busy_and_free_runs["unlimited"]).values()) == {0.0}
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
