"""The reasons of choices on the page of a run: which, of whom, and how many."""

import json

import pytest

from tests.hand_run import call
from tests.metrics.html_page import Page, assert_inert
from virsci_society.metrics.report.page import render_page
from virsci_society.metrics.report.people_and_papers import (
    BALLOTS_SHOWN,
    REASON_SHOWN,
    TEAMS_SHOWN,
    decisions_section,
)


def decision(form, act, who, reply, reason, *, team="S1/1", visit=1, turn=1, seat=0):
    """A row of a choice with its reason."""
    row = list(call(team, "ideas", visit, turn, seat, act, who, 20.0, f"/{form}"))
    row[10], row[17] = form, json.dumps(reply)
    return (*row, "strict", None, reason)


def choices(team="S1/1"):
    """A topic, two rounds of two ballots and a draft."""
    given = [
        decision("Topic", "decide", "S1", {"Selected Topic": "tides"}, "it came back", team=team)
    ]
    for turn in (1, 2):
        for seat, who in enumerate(("S1", "S2")):
            vote, why = {"Decision Made": f"Idea {seat}"}, f"ballot {turn}.{seat}"
            given.append(
                decision("Ballot", "vote", who, vote, why, team=team, turn=turn, seat=seat)
            )
    given.append(decision("Draft", "utter", "S1", {"Title": "On tides"}, "five parts", team=team))
    return given


def test_topic_last_ballots_and_draft_are_shown_with_their_reasons(rows, make_run):
    rows["calls"] += choices()
    section = decisions_section(make_run(rows))
    assert section["finished"] == 1
    (team,) = section["teams"]
    assert (team["team"], team["topic"]) == ("S1/1", "graphs")
    assert [tuple(row.values()) for row in team["rows"]] == [
        ("topic", "S1", "tides", "it came back"),
        ("vote", "S1", "Idea 0", "ballot 2.0"),
        ("vote", "S2", "Idea 1", "ballot 2.1"),
        ("draft", "S1", "On tides", "five parts"),
    ]
    html = render_page(make_run(rows))
    assert_inert(html)
    assert 'href="#decisions"' in html
    text = Page(html).text()
    assert "ballot 2.1" in text
    assert "ballot 1.1" not in text


def test_of_a_repeated_stage_the_last_visit_is_shown(rows, make_run):
    for visit, topic in ((1, "tides"), (2, "waves")):
        rows["calls"].append(
            decision(
                "Topic", "decide", "S1", {"Selected Topic": topic}, f"why {topic}", visit=visit
            )
        )
    (team,) = decisions_section(make_run(rows))["teams"]
    assert [row["decided"] for row in team["rows"]] == ["waves"]


def test_without_reasons_or_finished_teams_there_is_no_section(rows, make_run):
    assert decisions_section(make_run()) is None
    assert 'href="#decisions"' not in render_page(make_run())
    # S5/1 is still running and S6/1 has dissolved.
    rows["calls"] += choices("S5/1") + choices("S6/1")
    assert decisions_section(make_run(rows)) is None


@pytest.mark.slow
def test_many_teams_long_reasons_and_large_teams_stay_few_lines(rows, make_run):
    teams, long = [f"T{n:02}/1" for n in range(30)], "because " * 500
    model = rows["teams"][0]
    rows["teams"] += [(team, *model[1:7], 41.0, *model[8:]) for team in teams]
    for team in teams:
        rows["calls"] += [
            decision("Ballot", "vote", f"S{seat}", {}, long, team=team, seat=seat)
            for seat in range(20)
        ]
    section = decisions_section(make_run(rows))
    assert section["finished"] == len(teams)
    assert [team["team"] for team in section["teams"]] == teams[:TEAMS_SHOWN]
    for team in section["teams"]:
        assert len(team["rows"]) == BALLOTS_SHOWN
        assert all(len(row["reason"]) == REASON_SHOWN for row in team["rows"])
        assert all(row["reason"].endswith("[…]") for row in team["rows"])
    text = Page(render_page(make_run(rows))).text()
    assert f"The first {TEAMS_SHOWN} of 30 teams" in text


def test_hostile_reasons_stay_text(rows, make_run):
    payload = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    rows["calls"].append(decision("Topic", "decide", payload, {"Selected Topic": payload}, payload))
    rows["calls"].append(decision("Draft", "utter", "S1", ["no object"], payload))
    html = render_page(make_run(rows))
    assert_inert(html)
    assert Page(html).text().count(payload) == 4
