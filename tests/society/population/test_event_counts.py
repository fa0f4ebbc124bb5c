"""Dated counts: what is counted as of a date, and how a draw finds its person."""

import numpy as np

from virsci_society.society.population.event_counts import DatedCounts, cumulative_counts


def test_dated_counts_are_those_before_now_and_draws_in_proportion():
    day = [0.0]
    counts = DatedCounts(lambda: cumulative_counts(np.array([2, 0, 1])), lambda: day[0])
    counts.record([1, 1, 2])
    assert counts.total() == 3
    assert counts.counts(3).tolist() == [2, 0, 1]
    day[0] = 1.0
    assert [counts.person_at(place) for place in range(counts.total())] == [0, 0, 2, 1, 1, 2]
    assert counts.counts(4).tolist() == [2, 2, 2, 0]
    assert counts.rows_before_day_0.tolist() == [0, 2]
    assert [counts.count_before_day_0(row) for row in range(5)] == [2, 0, 1, 0, 0]


def test_an_unknown_count_is_taken_as_none():
    assert cumulative_counts(np.array([1.0, np.nan, 2.0])).tolist() == [0, 1, 1, 3]
