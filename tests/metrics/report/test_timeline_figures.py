"""Timelines of teams and people: what is drawn, and of how many."""

import re

from virsci_society.metrics.report import timeline_figures
from virsci_society.metrics.report.network_layout import run_communities
from virsci_society.metrics.report.timeline_figures import people_timeline, team_timeline
from virsci_society.metrics.teams.timelines import project_spans, projects
from virsci_society.society.results.run import Run


def texts(figure):
    return re.findall(r"<text[^>]*>([^<]*)</text>", figure)


def test_each_team_is_a_row_with_its_meetings_and_paper(run):
    drawn = team_timeline(run)
    assert (drawn.drawn, drawn.total) == (3, 3)
    words = texts(drawn.picture)
    assert set(run.table("teams")["team"]) <= set(words)
    stages = set(run.table("meetings")["stage"].dropna())
    assert {f"meeting: {stage}" for stage in stages} <= set(words)
    assert {"at work", "waiting", "paper visible"} <= set(words)


def test_of_a_large_run_some_are_drawn_and_the_numbers_are_told(run, monkeypatch):
    monkeypatch.setattr(timeline_figures, "ROWS_DRAWN", 2)
    teams, people = team_timeline(run), people_timeline(run, run_communities([run]))
    assert (teams.drawn, teams.total) == (2, 3)
    assert people.drawn == 2 < people.total
    first, last = run.table("teams").sort_values("founded")["team"].iloc[[0, -1]]
    assert {first, last} <= set(texts(teams.picture))


def test_people_stand_community_by_community(run):
    whole = run_communities([run])
    drawn = people_timeline(run, whole)
    place = dict(zip(whole.names, whole.community.tolist(), strict=True))
    people = set(run.table("members")["scientist"])
    named = [place.get(word, 99) for word in texts(drawn.picture) if word in people]
    assert len(set(named)) > 1
    assert named == sorted(named)
    assert len(named) == drawn.drawn == drawn.total


def test_the_line_of_somebody_is_the_wider_the_more_teams_at_once():
    members = [
        ("T1", "A", "leader", 0.0, 10.0, True, 0),
        ("T2", "A", "member", 5.0, 20.0, True, 1),
        ("T3", "A", "member", 10.0, None, None, 1),
        ("T4", "B", "member", 3.0, 3.0, True, 0),
    ]
    run = Run.from_rows({"members": members}, {"seed": 0, "days": 30.0}, {})
    loads = timeline_figures._loads(run.table("members", plain=True), 30.0)
    spans = loads[["scientist", "start", "end", "teams"]].itertuples(index=False, name=None)
    assert list(spans) == [
        ("A", 0.0, 5.0, 1),
        ("A", 5.0, 10.0, 2),
        ("A", 10.0, 20.0, 2),
        ("A", 20.0, 30.0, 1),
        ("B", 3.0, 3.0, 1),
    ]
    figure = str(people_timeline(run, run_communities([run])).picture)
    widths = timeline_figures.LOADS
    assert f'stroke-width="{widths[2]:g}"' in figure
    assert f'stroke-width="{widths[3]:g}"' not in figure


def test_nothing_is_drawn_of_an_empty_run(empty_run):
    assert team_timeline(empty_run) is None
    assert people_timeline(empty_run, run_communities([empty_run])) is None


def test_the_spans_of_a_team_add_up_to_its_row_of_projects(run):
    spans = project_spans(run)
    days = (spans["end"] - spans["start"]).groupby([spans["team"], spans["kind"]]).sum()
    table = projects(run).set_index("team")
    for team in table.index:
        assert abs(float(days.get((team, "effort"), 0.0)) - float(table.at[team, "effort"])) < 1e-9
    some = list(table.index)[:1]
    assert set(project_spans(run, some)["team"]) <= set(some)
