"""Newcomers' seats and repeated teams: chances, trends, and what becomes of those who come."""

import math

import numpy as np
import pytest

from tests.society import tiny_society
from virsci_society.protocols.policies.uniform import Uniform
from virsci_society.protocols.wordless import Wordless
from virsci_society.society.formation.founding import Yearly
from virsci_society.society.formation.leaders import Anybody
from virsci_society.society.formation.seats import (
    NewcomerSeats,
    RepeatedTeams,
    ResearchGroups,
    shift_log_odds,
)
from virsci_society.society.kernel.streams import Streams


def run(protocol, rate=60.0, **settings):
    rule = Yearly(teams_per_year=rate, leaders=Anybody(), max_teams=1000)
    at_once = tiny_society.times(publication_delay=0.0)
    society = tiny_society.found(protocol, founding=rule, until=365.0, times=at_once, **settings)
    society.run_to_end()
    return society


def wordless(**keys):
    settings = {"team_size": 4, "meetings": 0, "selection": Uniform()}
    return Wordless(**{**settings, **keys})


def test_the_chance_of_a_seat_is_beta_distributed_over_teams():
    seats, rng = NewcomerSeats(seat=0.3, spread=4.0), Streams(1).stream("seats")
    drawn = np.array([seats.chance(0.0, rng) for _ in range(8000)])
    assert drawn.mean() == pytest.approx(0.3, abs=0.01)
    assert drawn.var() == pytest.approx(0.3 * 0.7 / 5, rel=0.06)
    assert {NewcomerSeats(seat=share).chance(0.0, rng) for share in (0.0,)} == {0.0}
    assert NewcomerSeats(seat=1.0).chance(0.0, rng) == 1.0


def test_a_trend_changes_the_log_odds():
    odds = math.log(0.4 / 0.6) - 0.5 * 2
    assert shift_log_odds(0.4, -0.5, 730.0) == pytest.approx(1 / (1 + math.exp(-odds)))
    assert shift_log_odds(0.4, -0.5, 0.0) == pytest.approx(0.4)
    assert (shift_log_odds(0.0, 1.0, 730.0), shift_log_odds(1.0, -1.0, 730.0)) == (0.0, 1.0)


def test_leaders_may_have_a_trend_of_their_own():
    # At these odds nobody but a trend can decide.
    shared = NewcomerSeats(lead=0.5, trend=2.0)
    own = NewcomerSeats(lead=0.5, trend=2.0, lead_trend=-2.0)
    rng = Streams(3).stream("x")
    assert all(shared.leads(7300.0, rng) for _ in range(20))
    assert not any(own.leads(7300.0, rng) for _ in range(20))


def test_newcomers_come_on_the_date_of_their_team_and_sit_in_it():
    society = run(wordless(newcomers=NewcomerSeats(lead=0.3, seat=0.5, spread=2)))
    arrivals = {e["scientist"]: e["date"] for e in society.log.events if e["kind"] == "arrived"}
    joined = {}
    for event in society.log.events:
        if event["kind"] == "joined":
            joined.setdefault(event["scientist"], event["date"])
    assert len(arrivals) > 30
    assert all(joined[who] == date for who, date in arrivals.items())
    leaders = [row[1] for row in society.log.rows["teams"]]
    led = sum(
        arrivals.get(e["leader"]) == e["date"] for e in society.log.events if e["kind"] == "founded"
    )
    assert len(leaders) == pytest.approx(60, abs=4 * 60**0.5)
    assert led == pytest.approx(0.3 * len(leaders), abs=4 * (0.21 * len(leaders)) ** 0.5)


def test_leaders_ask_juniors_of_their_own_group_first():
    seats = NewcomerSeats(lead=0.0, seat=0.4)
    groups = ResearchGroups(share=1.0, stay=100.0)
    shares = {}
    for rule in (None, groups):
        society = run(wordless(newcomers=seats, groups=rule))
        came = society.world.mentees
        inside = outside = 0
        for row in society.log.rows["papers"]:
            paper = society.literature.paper(row[0])
            rows = [society.population.rows[who] for who in paper.authors]
            juniors = {one: day for day, one in came.get(rows[0], ()) if day < paper.date}
            for one in rows[1:]:
                if society.population.arrived.get(one, -1.0) < paper.date:
                    near = one in juniors and paper.date - juniors[one] < 100.0
                    inside, outside = inside + near, outside + (not near)
        shares[rule is None] = inside / (inside + outside)
    assert shares[False] > 3 * shares[True]


def test_a_junior_leaves_the_group_after_its_time():
    society = tiny_society.found(tiny_society.talk(1), until=50.0)
    world, rng = society.world, Streams(1).stream("groups")
    world.mentees[0] = [(-90.0, 3), (-10.0, 4), (-5.0, 5)]
    groups = ResearchGroups(share=1.0, stay=60.0)
    drawn = {groups.choose(0, frozenset({5}), world, rng) for _ in range(20)}
    assert drawn == {4}
    assert groups.choose(1, frozenset(), world, rng) is None
    assert ResearchGroups(share=0.0).choose(0, frozenset(), world, rng) is None


def test_transient_newcomers_leave_with_their_team():
    society = run(wordless(newcomers=NewcomerSeats(seat=0.5, lead=0.2, transient_share=1.0)))
    people = society.population
    assert people.arrived
    assert people.departed == people.arrived
    reasons = {row[2] for row in society.log.rows["careers"]}
    assert reasons == {"arrived", "transient"}
    assert not society.world.transients


def test_the_leader_may_be_named_last():
    for order, place in (("leader_first", 0), ("leader_last", -1)):
        society = run(wordless(newcomers=NewcomerSeats(seat=0.5), author_order=order))
        joined = {}
        for event in society.log.events:
            if event["kind"] == "joined" and event["role"] == "member":
                joined.setdefault(event["team"], []).append(event["scientist"])
        papers = [society.literature.paper(row[0]) for row in society.log.rows["papers"]]
        assert len(papers) > 20
        for paper in papers:
            leader = paper.id.partition("/")[0]
            assert paper.authors[place] == leader
            assert [who for who in paper.authors if who != leader] == joined[paper.id]


@pytest.mark.parametrize("stay", [0.0, 0.4, 1.0])
def test_who_stays_is_drawn_one_by_one(stay):
    rule, rng = RepeatedTeams(stay=stay), Streams(1).stream("stay")
    kept = [len(rule.staying((3, 5, 7), frozenset({5}), rng)) for _ in range(3000)]
    assert np.mean(kept) == pytest.approx(2 * stay, abs=0.06)


def test_papers_that_are_too_old_are_not_repeated():
    society = tiny_society.found(tiny_society.talk(1), until=50.0)
    rng, world = Streams(1).stream("again"), society.world
    # Scientist7 wrote a year before day 0, Scientist0 eight years before.
    rule = RepeatedTeams(share=1.0, within=730)
    assert rule.earlier_team(7, world, rng) == ()
    assert rule.earlier_team(0, world, rng) is None
    assert RepeatedTeams(share=0.0).earlier_team(7, world, rng) is None


def test_silence_may_begin_with_the_last_paper():
    from virsci_society.society.careers import Rates

    slow = {"founding": Yearly(teams_per_year=0.001, leaders=Anybody())}
    for since, left in (("day_0", 0), ("last_paper", 6)):
        society = tiny_society.found(
            wordless(), until=300.0, careers=Rates(inactivity=3 * 365.0, silent_since=since), **slow
        )
        society.run_to_end()
        assert len(society.population.departed) == left
