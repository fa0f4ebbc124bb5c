"""Seats by hand: who is new, whose partner was there, which team wrote again."""

import numpy as np

from virsci_society.scenarios.calibration.seats import CareerHistory, Seats
from virsci_society.society.literature.authorships import Authorships

YEAR = 365.0


def works(*dated):
    """Papers as (year, authors)."""
    return Authorships.of([(year * YEAR, authors) for year, authors in dated])


def seats_of(*dated, first, last, leader="last"):
    return Seats.of(CareerHistory(works(*dated), leader), first, last)


def test_newcomers_enter_once():
    found = seats_of((0, [0]), (1, [1, 0]), (1, [1, 2]), (2, [1, 2]), first=1, last=3)
    assert found.person.tolist() == [1, 0, 1, 2, 1, 2]
    # Person 1 has two papers in its first year: half an entry each.
    assert found.entries.tolist() == [0.5, 0, 0.5, 1, 0, 0]
    assert found.leads.tolist() == [False, True] * 3


def test_the_leader_may_stand_first():
    found = seats_of((0, [0, 1]), (1, [0, 1, 2]), first=1, last=2, leader="first")
    assert found.leads.tolist() == [True, False, False]
    assert found.relation.tolist() == [0, 1, 0]


def test_partners_friends_and_strangers():
    early = [(0, [0, 1]), (0, [1, 2]), (0, [3])]
    # The leader is 2: 1 is its partner, 0 a partner's partner, 3 a stranger.
    for one, relation in ((1, 1), (0, 2), (3, 3)):
        found = seats_of(*early, (1, [one, 2]), first=1, last=2)
        assert found.relation.tolist() == [relation, 0]
    # A newcomer has no relation, and beside newcomers alone there is none to have.
    assert seats_of(*early, (1, [9, 2]), first=1, last=2).relation.tolist() == [0, 0]
    assert seats_of(*early, (1, [1, 9]), first=1, last=2).relation.tolist() == [0, 0]


def test_teams_that_write_again():
    again = seats_of((0, [0, 1, 2]), (1, [0, 9, 2]), first=1, last=2)
    assert again.repeated.all()
    assert again.stayed.tolist() == [True, False, True]
    assert again.others.tolist() == [2, 2, 2]
    one_of_three = seats_of((0, [0, 1, 2]), (1, [0, 8, 9]), first=1, last=2)
    assert not one_of_three.repeated.any()
    too_long_ago = seats_of((0, [0, 1]), (4, [0, 1]), first=4, last=5)
    assert not too_long_ago.repeated.any()
    assert seats_of((0, [0, 1]), (3, [0, 1]), first=3, last=4).repeated.all()
    same_year = seats_of((0, [0]), (1, [0, 1]), (1, [0, 1]), first=1, last=2)
    assert not same_year.repeated.any()


def test_papers_drawn_twice_count_twice():
    found = seats_of((0, [0]), (1, [0, 1]), (1, [2]), first=1, last=2)
    again = found.of_papers(np.array([2, 1, 1]))
    assert again.person.tolist() == [2, 0, 1, 0, 1]
