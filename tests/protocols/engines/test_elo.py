"""Elo ratings by hand, and who meets whom."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virsci_society.protocols.engines.search import (
    START,
    elo_ratings,
    expected_score,
    likeness_of,
    pair_by_rating,
    rank,
)


def test_expected_scores_of_the_book():
    assert expected_score(1500.0, 1500.0) == 0.5
    assert expected_score(1600.0, 1200.0) == pytest.approx(10 / 11)
    assert expected_score(1200.0, 1600.0) == pytest.approx(1 / 11)
    assert expected_score(1400.0, 1200.0) == pytest.approx(0.7597469)


def test_ratings_of_three_matches_by_hand():
    # Equal ratings: half of K. Then 1216 against 1200, which lets expect 0.5230096.
    assert elo_ratings(3, [(0, 1, 1.0)], 32) == [1216.0, 1184.0, 1200.0]
    won = elo_ratings(3, [(0, 1, 1.0), (0, 2, 1.0)], 32)
    assert won == pytest.approx([1231.263693, 1184.0, 1184.736307], abs=1e-6)
    drawn = elo_ratings(3, [(0, 1, 1.0), (2, 0, 0.5)], 32)
    assert drawn == pytest.approx([1215.263693, 1184.0, 1200.736307], abs=1e-6)
    assert elo_ratings(2, [(0, 1, 0.0)], 128) == [1136.0, 1264.0]
    assert elo_ratings(2, [], 32) == [START, START]


match = st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0]))


@given(st.lists(match.filter(lambda one: one[0] != one[1]), max_size=30), st.floats(1, 400))
def test_the_mean_stays_and_the_order_within_a_pair_means_nothing(matches, k):
    ratings = elo_ratings(6, matches, k)
    assert np.mean(ratings) == pytest.approx(START, abs=1e-4)
    turned = [(second, first, 1.0 - score) for first, second, score in matches]
    assert elo_ratings(6, turned, k) == pytest.approx(ratings, abs=1e-4)


def likeness(size, *alike):
    matrix = np.eye(size)
    for one, other, value in alike:
        matrix[one, other] = matrix[other, one] = value
    return matrix


def test_those_without_a_match_meet_their_likes():
    alike = likeness(6, (0, 3, 0.9), (1, 5, 0.8), (0, 1, 0.5), (2, 4, 0.1))
    assert pair_by_rating([START] * 6, [], alike, range(6)) == [(0, 3), (1, 5), (2, 4)]


def test_winners_meet_winners_and_nobody_meets_the_same_one_again():
    matches = [(0, 1, 1.0), (2, 3, 1.0)]
    ratings = elo_ratings(4, matches, 32)
    # The winner of the first pair is most like those that lost; the other winner goes before.
    alike = likeness(4, (0, 1, 0.9), (0, 3, 0.8))
    assert pair_by_rating(ratings, matches, alike, range(4)) == [(0, 2), (1, 3)]


def test_newcomers_meet_the_best_and_others_rest():
    matches = [(0, 1, 1.0), (2, 3, 1.0), (0, 2, 1.0), (1, 3, 1.0)]
    ratings = elo_ratings(6, matches, 32)
    alike = likeness(6, (4, 5, 0.9), (4, 3, 0.8))
    first = pair_by_rating(ratings, matches, alike, [4, 5])
    # Of 1 and 2, which have won and lost once, one is a little better: it was beaten by a winner.
    assert first == [(4, 0), (5, rank(ratings)[1])]
    second = pair_by_rating(ratings, [*matches, (4, 0, 0.0)], alike, [4])
    assert second[0][1] != 0


def test_an_odd_one_pauses_and_chooses_first_the_next_time():
    alike = likeness(3, (0, 1, 0.9))
    assert pair_by_rating([START] * 3, [], alike, range(3)) == [(0, 1)]
    matches = [(0, 1, 1.0)]
    assert pair_by_rating(elo_ratings(3, matches, 32), matches, alike, range(3))[0] == (2, 0)
    assert pair_by_rating([START], [], likeness(1), range(1)) == []


@given(st.integers(2, 12), st.integers(1, 6), st.integers(0, 10_000), st.data())
def test_nobody_plays_twice_in_a_round_and_the_pairs_follow_from_the_past(size, rounds, seed, data):
    units = np.random.default_rng(seed).standard_normal((size, 4))
    alike = likeness_of([unit / np.linalg.norm(unit) for unit in units])
    matches = []
    for _ in range(rounds):
        ratings = elo_ratings(size, matches, 32)
        pairs = pair_by_rating(ratings, matches, alike, range(size))
        assert pairs == pair_by_rating(list(ratings), tuple(matches), alike.copy(), range(size))
        met = [place for pair in pairs for place in pair]
        assert len(set(met)) == len(met) == size // 2 * 2
        matches += [(one, other, data.draw(st.sampled_from([0.0, 1.0]))) for one, other in pairs]


@given(st.permutations(range(8)), st.integers(0, 10_000))
def test_the_best_of_eight_is_first_after_three_rounds(strength, seed):
    units = np.random.default_rng(seed).standard_normal((8, 4))
    alike = likeness_of([unit / np.linalg.norm(unit) for unit in units])
    matches = []
    for _ in range(3):
        ratings = elo_ratings(8, matches, 128)
        for one, other in pair_by_rating(ratings, matches, alike, range(8)):
            matches.append((one, other, float(strength[one] > strength[other])))
    assert rank(elo_ratings(8, matches, 128))[0] == strength.index(7)
