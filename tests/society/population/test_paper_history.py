"""Papers by date and fading counts of them, against sums over all papers."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from virsci_society.society.literature.authorships import Authorships
from virsci_society.society.population.event_counts import FadingPapers, PaperHistory

PAST = Authorships.of([(-800.0, (0, 1)), (-400.0, (1, 2, 3)), (-1.0, (3,))], people=5)


class Clock:
    def __init__(self):
        self.day = 0.0

    def __call__(self):
        return self.day


def grown():
    clock = Clock()
    history = PaperHistory(lambda: PAST, clock)
    for day, authors in ((10.0, (4, 1)), (20.0, (5, 1)), (30.0, (6, 0))):
        clock.day = day
        history.record(authors)
    return history, clock


def by_row(joint):
    """Joint papers and the last date of each co-author, in the order in which they are kept."""
    return {row: (papers, last) for row, papers, last in zip(*map(list, joint), strict=True)}


def test_papers_of_now_do_not_count_yet():
    history, clock = grown()
    assert len(history) == 5
    assert history.last_date(6) is None
    assert by_row(history.joint_papers(0)) == {1: (1, -800.0)}
    clock.day = 30.1
    assert len(history) == 6
    assert history.last_date(6) == 30.0
    assert by_row(history.joint_papers(0)) == {1: (1, -800.0), 6: (1, 30.0)}


@settings(max_examples=60)
@given(
    teams=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True), max_size=15),
    asked=st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True),
    every=st.integers(1, 4),
)
def test_joint_papers_are_those_counted_one_by_one(teams, asked, every):
    """Whenever it was asked before; co-authors in the order in which a reader meets them."""
    clock = Clock()
    history = PaperHistory(lambda: PAST, clock)
    papers = [(date, PAST.authors_of(i).tolist()) for i, date in enumerate(PAST.dates.tolist())]
    for number, team in enumerate(teams, start=1):
        clock.day = float(number)
        history.record(team)
        papers.append((clock.day, team))
        if number % every == 0:
            history.joint_papers_of(asked[:2])
    clock.day += 1.0
    expected = {}
    for row in asked:
        for date, authors in papers:
            for other in authors if row in authors else ():
                if other != row:
                    joint, last = expected.get(other, (0, -math.inf))
                    expected[other] = joint + 1, max(last, date)
    for row in asked:
        expected.pop(row, None)
    for length in range(1, len(asked) + 1):
        found = by_row(history.joint_papers_of(asked[:length]))
    assert list(found.items()) == list(expected.items())
    writers = sorted({row for _, authors in papers for row in authors})
    numbers = history.numbers_of_papers(np.array(writers))
    assert numbers.tolist() == [sum(row in team for _, team in papers) for row in writers]


@settings(max_examples=60)
@given(
    teams=st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=4, unique=True), max_size=12),
    memory=st.sampled_from([None, 50.0, 1000.0]),
    exponent=st.sampled_from([0.0, 0.5, 1.0, 1.7]),
    coauthored=st.sampled_from([0.3, 1.0]),
    leader=st.sampled_from([0, -1]),
)
def test_weights_are_sums_over_all_papers(teams, memory, exponent, coauthored, leader):
    clock = Clock()
    history = PaperHistory(lambda: PAST, clock)
    fading = FadingPapers(
        history,
        memory,
        exponent,
        lambda a, b: 1.0 + np.arange(a, b),
        coauthored=coauthored,
        leader=leader,
    )
    for number, team in enumerate(teams, start=1):
        clock.day = 5.0 * number
        history.record(team)
        if number % 3 == 0:
            fading.weight(0)
    clock.day += 1.0
    papers = [(date, PAST.authors_of(i)) for i, date in enumerate(PAST.dates)]
    papers += [(5.0 * number, team) for number, team in enumerate(teams, start=1)]
    expected = []
    for row in range(13):
        own = [(date, authors[leader] == row) for date, authors in papers if row in authors]
        fade = sum(
            (1.0 if led else coauthored) * (1.0 if memory is None else math.exp(date / memory))
            for date, led in own
        )
        expected.append((1.0 + row) * fade**exponent if own else 0.0)
    found = fading.weights(np.arange(13))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert fading.total == pytest.approx(sum(expected), rel=1e-9)
    # Every share of the total leads to the person whose weight it falls in.
    edges = np.cumsum(expected) / sum(expected)
    for row, edge in enumerate(edges):
        if expected[row]:
            inside = edge - expected[row] / sum(expected) / 2
            assert fading.person_at(inside) == row


def test_a_limit_bounds_what_papers_count_as_on_the_day_of_the_draw():
    history, clock = grown()
    plain, limited = (FadingPapers(history, 500.0, 2.0, limit=limit) for limit in (None, 1.5))
    for day in (31.0, 900.0):
        clock.day = day
        rows, faded = np.arange(7), math.exp(-day / 500)
        papers = np.sqrt(plain.weights(rows)) * faded
        np.testing.assert_allclose(
            limited.weights(rows), (papers / (1 + papers / 1.5) / faded) ** 2, rtol=1e-9
        )
        rng = np.random.default_rng(2)
        drawn = Counter(limited.propose(rng) for _ in range(8000))
        counts, weights = np.array([drawn[row] for row in range(7)]), limited.weights(rows)
        assert drawn[None] == 8000 - counts.sum() > 0
        assert chisquare(counts, weights / weights.sum() * counts.sum()).pvalue > 1e-3
