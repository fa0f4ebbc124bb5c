"""The day on which two runs part."""

import copy

import pytest

from virsci_society.scenarios.explorer.page import parting_day

EVENTS = [
    {"date": 1.0, "sequence": 0, "kind": "founded", "team": "S1/1"},
    {"date": 9.0, "sequence": 1, "kind": "joined", "team": "S1/1", "scientist": "S2"},
]


def test_a_run_does_not_part_from_itself(make_run):
    assert parting_day(make_run(events=EVENTS), make_run(events=EVENTS)) is None


@pytest.mark.parametrize(("place", "day"), [(0, 1.0), (1, 9.0)])
def test_they_part_with_the_first_event_that_differs(make_run, place, day):
    other = copy.deepcopy(EVENTS)
    other[place]["team"] = "S9/1"
    assert parting_day(make_run(events=EVENTS), make_run(events=other)) == day
    assert parting_day(make_run(events=EVENTS), make_run(events=EVENTS[:place])) == day


def test_other_words_part_them_before_any_event(make_run, rows):
    changed = copy.deepcopy(rows)
    first = min(range(len(rows["calls"])), key=lambda n: rows["calls"][n][8])
    row = list(rows["calls"][first])
    row[17] = '{"Response": "well"}'
    changed["calls"][first] = tuple(row)
    one, other = make_run(rows, events=EVENTS), make_run(changed, events=EVENTS)
    assert parting_day(one, other) == rows["calls"][first][8]


def test_other_people_or_ties_part_them_on_day_0(make_run, rows):
    for table in ("scientists", "ties"):
        changed = copy.deepcopy(rows)
        changed[table] = changed[table][1:]
        assert parting_day(make_run(rows), make_run(changed)) == 0.0


def test_a_longer_run_parts_where_the_shorter_ends(make_run):
    assert parting_day(make_run(), make_run(manifest={"days": 140.0})) == 100.0
