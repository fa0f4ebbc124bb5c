"""Excluded people are a set like any other, and those who are gone are not copied."""

from __future__ import annotations

import tracemalloc

import pytest

from virsci_society.society.formation.world_view import ExcludedRows

pytestmark = pytest.mark.usefixtures("collected")


@pytest.fixture
def gone():
    return {3: 1.0, 4: 2.0, 9: 2.5}


@pytest.fixture
def excluded(gone):
    return ExcludedRows(gone.keys(), {1, 4})


def test_it_holds_both_and_counts_nobody_twice(excluded):
    assert [row for row in range(12) if row in excluded] == [1, 3, 4, 9]
    assert len(excluded) == 4
    assert sorted(excluded) == [1, 3, 4, 9]
    assert excluded == {1, 3, 4, 9}
    assert excluded
    assert not ExcludedRows(set())


def test_whoever_leaves_later_is_in_it_too(gone, excluded):
    gone[7] = 3.0
    assert 7 in excluded
    assert len(excluded) == 5


def test_operators_of_sets_agree_with_plain_sets(excluded):
    plain = frozenset(excluded)
    for other in (set(), {1, 2}, {1, 3, 4, 9}, frozenset(range(20))):
        assert excluded | other == plain | other == other | excluded
        assert excluded & other == plain & other
        assert excluded - other == plain - other
        assert other - excluded == other - plain
        assert (excluded >= other) == (plain >= other)


def test_those_who_are_gone_are_not_copied():
    many = dict.fromkeys(range(200_000), 1.0)
    tracemalloc.start()
    excluded = ExcludedRows(many.keys(), {200_001}) | {200_002, 5}
    assert len(excluded) == 200_002
    assert excluded >= {1, 2, 200_001}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000
