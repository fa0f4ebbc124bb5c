"""Timelines of teams and people: what is drawn, and of how many."""

import re

import numpy as np
import pandas as pd

from virsci_society.metrics.report import timeline_figures
from virsci_society.metrics.report.timeline_figures import people_timeline, team_timeline
from virsci_society.metrics.teams.timelines import project_spans, projects
from virsci_society.society.results.run import Run


def texts(figure):
    return re.findall(r"<text[^>]*>([^<]*)</text>", figure)


def test_each_team_is_a_row_with_its_meetings_and_paper(run):
    drawn = team_timeline(run)
    assert (drawn.drawn, drawn.total) == (3, 3)
    words = texts(drawn.figure)
    assert set(run.table("teams")["team"]) <= set(words)
    stages = set(run.table("meetings")["stage"].dropna())
    assert {f"meeting: {stage}" for stage in stages} <= set(words)
    assert {"at work", "waiting", "paper visible"} <= set(words)


def test_of_a_large_run_some_are_drawn_and_the_numbers_are_told(run, monkeypatch):
    monkeypatch.setattr(timeline_figures, "ROWS_DRAWN", 2)
    teams, people = team_timeline(run), people_timeline(run)
    assert (teams.drawn, teams.total) == (2, 3)
    assert people.drawn == 2 < people.total
    first, last = run.table("teams").sort_values("founded")["team"].iloc[[0, -1]]
    assert {first, last} <= set(texts(teams.figure))


def test_people_with_most_memberships_are_on_top(run):
    drawn = people_timeline(run)
    counts = run.table("members")["scientist"].value_counts()
    named = [word for word in texts(drawn.figure) if word in counts.index]
    assert counts[named[0]] == counts.max()
    assert len(named) == drawn.drawn == drawn.total


def test_memberships_at_the_same_time_lie_in_lanes_of_their_own():
    members = [
        ("T1", "A", "leader", 0.0, 10.0, True, 0),
        ("T2", "A", "member", 5.0, 20.0, True, 1),
        ("T3", "A", "member", 10.0, None, None, 1),
    ]
    run = Run.from_rows({"members": members}, {"seed": 0, "days": 30.0}, {})
    lanes = timeline_figures._lanes(run.table("members", plain=True), 30.0)
    assert lanes.tolist() == [-0.3, 0.3, -0.3]


def test_lines_of_many_memberships_are_thin_enough_to_stay_apart():
    people = pd.Series(["S1"] * 8 + ["S2"] * 2 + ["S3"])
    lanes = np.array([*(0.6 * np.arange(8) / 7 - 0.3), -0.3, 0.3, 0.0])
    shares = timeline_figures._thinner(people, lanes)
    assert list(shares[8:]) == [1.0, 1.0, 1.0]
    between = 72 * timeline_figures.ROW_HEIGHT * 0.6 / 7
    assert 0 < timeline_figures.LEADER * shares[0] < between


def test_nothing_is_drawn_of_an_empty_run(empty_run):
    assert team_timeline(empty_run) is None
    assert people_timeline(empty_run) is None


def test_the_spans_of_a_team_add_up_to_its_row_of_projects(run):
    spans = project_spans(run)
    days = (spans["end"] - spans["start"]).groupby([spans["team"], spans["kind"]]).sum()
    table = projects(run).set_index("team")
    for team in table.index:
        assert abs(float(days.get((team, "effort"), 0.0)) - float(table.at[team, "effort"])) < 1e-9
    some = list(table.index)[:1]
    assert set(project_spans(run, some)["team"]) <= set(some)
