"""Pairs by points, and the points of a round."""

import numpy as np

from virsci_society.protocols.engines.forms import PairChoice
from virsci_society.protocols.engines.search import award_points, best_of, pair_by_points, scored


def chosen(better):
    return PairChoice(better=better, reason="")


def after(points, pairs, *choices):
    return award_points(points, scored(pairs, [chosen(better) for better in choices]))


def test_ideas_of_about_as_many_points_meet_and_nobody_twice():
    points = [3.0, 0.0, 2.0, 1.0, 3.0, 0.0]
    for seed in range(20):
        pairs = pair_by_points(points, np.random.default_rng(seed))
        assert sorted(place for pair in pairs for place in pair) == list(range(6))
        assert [set(pair) for pair in pairs] == [{0, 4}, {2, 3}, {1, 5}]


def test_with_an_odd_number_one_pauses_and_both_sides_stand_first():
    rngs = [np.random.default_rng(seed) for seed in range(40)]
    pairs = [pair_by_points([1.0, 1.0, 0.0], rng) for rng in rngs]
    assert all(len(one) == 1 and set(one[0]) == {0, 1} for one in pairs)
    assert {one[0] for one in pairs} == {(0, 1), (1, 0)}


def test_points_of_a_round():
    points = after([1.0, 0.0, 0.0, 2.0, 0.0], [(0, 1), (3, 2)], "B", "")
    assert points == [1.0, 1.0, 0.5, 2.5, 1.0]
    assert sum(points) == 3.0 + 2.0 + 1.0, "a pause counts as a win"


def test_of_equal_ideas_the_earliest_wins():
    ideas = ("a", "b", "c")
    assert best_of(ideas, after([0.0, 0.0, 0.0], [(1, 2)], "A")) == "a", "its pause"
    assert best_of(ideas, after([0.0, 0.5, 0.0], [(1, 2)], "A")) == "b"
    assert best_of(ideas, after([0.5, 0.5, 0.0], [(0, 1)], "")) == "a"
