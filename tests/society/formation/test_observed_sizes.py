"""Sizes of past teams, kept for drawing."""

import numpy as np

from virsci_society.protocols.team_sizes import ObservedSize
from virsci_society.society.formation.seats import ObservedSizes
from virsci_society.society.kernel.streams import Streams

SIZES = [1, 4, 2, 9, 3, 3, 1, 5]


def test_they_are_the_numbers_in_their_order():
    sizes = ObservedSizes(np.array(SIZES))
    assert list(sizes) == SIZES
    assert len(sizes) == 8
    assert (sizes[3], list(sizes[2:5])) == (9, [2, 9, 3])
    assert all(type(size) is int for size in sizes)


def test_those_within_bounds_keep_their_order_and_are_looked_for_once():
    sizes = ObservedSizes(SIZES)
    assert sizes.within(2, 5).tolist() == [4, 2, 3, 3, 5]
    assert sizes.within(2, 5) is sizes.within(2, 5)
    assert sizes.within(6, 8).tolist() == []


def test_a_draw_is_the_same_from_a_list_and_from_what_is_kept():
    kept, policy = ObservedSizes(SIZES), ObservedSize(largest=5)
    for ordinal in range(50):
        one, other = (Streams(1).stream("size", ordinal) for _ in range(2))
        assert policy.draw(kept, one) == policy.draw(SIZES, other)
