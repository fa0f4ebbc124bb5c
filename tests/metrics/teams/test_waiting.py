import pytest

from virsci_society.metrics.measures import MEASURES
from virsci_society.metrics.registry import measure_run
from virsci_society.metrics.teams.concurrency import pieces


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
    found = measure_run(make_run(week), (name for name in MEASURES if name.startswith("waiting_")))
    assert found == {
        "waiting_round": 13 - 2.5,
        "waiting_desk": 1.5,
        "waiting_teammates": 1,
        "waiting_notice": 7,
        "waiting_meeting": 1,
    }
    assert measure_run(make_run(week), ["memberships_at_homework"]) == {
        "memberships_at_homework": (2 + 1) / 2
    }


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
