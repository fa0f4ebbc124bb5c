"""Joint papers as a sparse matrix with dated ties on top, compared with a dense one."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from virsci_society.society.population.network import CoauthorNetwork

pytestmark = pytest.mark.usefixtures("collected")

PEOPLE = 9


class Clock:
    date = 0.0

    def __call__(self):
        return self.date


BASES = st.dictionaries(
    st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] < pair[1]),
    st.integers(1, 4),
    max_size=14,
)
PAPERS = st.lists(
    st.tuples(st.integers(0, 4), st.lists(st.integers(0, 8), min_size=1, max_size=5, unique=True)),
    max_size=10,
)


def dense_of(base, papers=(), before=np.inf):
    dense = np.zeros((PEOPLE, PEOPLE), dtype=np.int64)
    for (i, j), count in base.items():
        dense[i, j] = dense[j, i] = count
    for date, authors in papers:
        for i in authors:
            for j in authors:
                dense[i, j] += (date < before) * (i != j)
    return dense


def grown(base, papers):
    clock = Clock()
    network = CoauthorNetwork(csr_array(dense_of(base)), clock)
    for date, authors in sorted(papers, key=lambda paper: paper[0]):
        clock.date = float(date)
        network.record_paper(authors)
    return network, clock


@given(BASES, PAPERS, st.integers(0, 5))
def test_a_line_of_joint_papers_has_each_coauthor_as_often_as_they_wrote(base, papers, date):
    network, clock = grown(base, papers)
    clock.date = max(float(date), clock.date)
    dense = dense_of(base, papers, clock.date)
    everybody = np.arange(PEOPLE)
    for i in range(PEOPLE):
        known = network.strength(i)
        assert known == dense[i].sum()
        line = [network.partner_at(i, place) for place in range(known)]
        assert line == sorted(line), "in order of rows, whenever they wrote"
        assert np.bincount(line, minlength=PEOPLE).tolist() == dense[i].tolist()
        partners, counts = network.coauthors(i)
        assert partners.tolist() == np.flatnonzero(dense[i]).tolist()
        assert counts.tolist() == dense[i][dense[i] > 0].tolist()
        assert network.joint_papers_with(i, everybody).tolist() == dense[i].tolist()
        assert [network.joint_papers(i, j) for j in range(PEOPLE)] == dense[i].tolist()


@given(BASES, st.lists(st.integers(0, 8), max_size=6))
def test_ties_before_day_0_of_some_people_are_those_with_one_of_them(base, some):
    network, _ = grown(base, [(0, [0, 1, 2])])
    everybody = sorted([i, j, count] for (i, j), count in base.items())
    assert network.ties_before_day_0().tolist() == everybody
    theirs = [tie for tie in everybody if tie[0] in some or tie[1] in some]
    assert network.ties_before_day_0(np.array(some, dtype=np.int64)).tolist() == theirs


@given(BASES, PAPERS, st.sets(st.integers(0, 8)))
@settings(max_examples=40, deadline=None)
def test_a_view_of_some_people_is_a_part_of_the_view_of_all(base, papers, some):
    network, clock = grown(base, papers)
    clock.date = 9.0
    whole, part = network.graph(), network.graph(sorted(some))
    assert sorted(part) == sorted(some)
    dense = dense_of(base, papers)
    assert {(i, j): n for i, j, n in whole.edges(data="weight")} == {
        (i, j): dense[i, j] for i, j in combinations(range(PEOPLE), 2) if dense[i, j]
    }
    expected = {(i, j): n for i, j, n in whole.edges(data="weight") if i in some and j in some}
    assert {(i, j): n for i, j, n in part.edges(data="weight")} == expected


def random_counts(people, degree):
    rng = np.random.default_rng(1)
    ends = rng.integers(people, size=(2, people * degree // 2), dtype=np.int32)
    ends = ends[:, ends[0] != ends[1]]
    one_way = csr_array((np.ones(ends.shape[1], np.int64), ends), shape=(people, people))
    return (one_way + one_way.T).tocsr()


def test_the_matrix_of_the_ecosystem_is_shared_and_not_changed():
    counts = csr_array(dense_of({(0, 1): 2, (1, 4): 1}))
    counts.indices = counts.indices.astype(np.int32)
    before = counts.toarray()
    network = CoauthorNetwork(counts, lambda: 1.0)
    network.record_paper([0, 1, 5])
    assert np.shares_memory(network._partners, counts.indices)
    assert (counts.toarray() == before).all()


def test_a_matrix_whose_rows_are_out_of_order_is_understood_and_left_as_it_is():
    counts = csr_array((np.array([1, 2, 2, 1]), np.array([2, 1, 0, 0]), np.array([0, 2, 3, 4])))
    assert not counts.has_sorted_indices
    network = CoauthorNetwork(counts, lambda: 0.0)
    assert network.ties_before_day_0().tolist() == [[0, 1, 2], [0, 2, 1]]
    assert counts.indices.tolist() == [2, 1, 0, 0]


def test_a_network_takes_a_few_bytes_a_tie_and_no_object_each():
    people = 50_000
    counts = random_counts(people, 10)
    tracemalloc.start()
    network = CoauthorNetwork(counts, Clock())
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    ties = counts.nnz
    assert ties > 9 * people
    assert held < 8 * ties + 40 * people
    assert network.strength(7) == counts[[7]].sum()


def test_what_has_been_read_does_not_grow_with_the_network():
    """As a thread reads that is slower than the clock."""
    clock = Clock()
    network = CoauthorNetwork(random_counts(20, 4), clock)
    network.record_paper([1, 2])
    clock.date = 1.0
    read, line = network._recent_partners(1), network.coauthors(1)
    held = [part.tolist() for part in line]
    network.record_paper([1, 3, 4])
    assert read == [2]
    assert [part.tolist() for part in line] == held
    assert [part.tolist() for part in network.coauthors(1, 1.0)] == held
