"""Patterns of who wrote together before: by hand, and against sets compared one with another."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from virsci_society.metrics.networks.team_patterns import (
    SIZES,
    largest_groups,
    pattern_counts,
    pattern_distance,
    pattern_name,
)


@pytest.mark.parametrize(
    ("papers", "pattern"),
    [
        (["ab"], "none"),
        (["bc", "abc"], "AB"),
        (["ab", "bc", "ac", "abc"], "AB AC BC"),
        (["ab", "cd", "abcd"], "AB CD"),
        (["ab", "bc", "cd", "abcd"], "AB AC BD"),
        (["bcd", "da", "abcd"], "ABC AD"),
    ],
)
def test_patterns_by_hand(papers, pattern):
    numbered = [(date, tuple("abcd".index(one) for one in by)) for date, by in enumerate(papers)]
    *_, (size, groups) = largest_groups(numbered, [])
    assert pattern_name(groups, size) == pattern


def brute_force(papers):
    """The same by definition: every set of authors against every earlier paper, as sets."""
    found = []
    for date, by in papers:
        earlier = [frozenset(others) for when, others in papers if when < date]
        told = {
            frozenset(part)
            for order in range(2, len(by) + 1)
            for part in combinations(sorted(by), order)
            if any(set(part) <= others for others in earlier)
        }
        found.append(
            (frozenset(by), {one for one in told if not any(one < other for other in told)})
        )
    return found


def incidence(team, groups):
    """The pattern as a graph of authors and groups, for networkx to compare."""
    graph = nx.Graph()
    graph.add_nodes_from((who, {"side": 0}) for who in team)
    graph.add_nodes_from((group, {"side": 1}) for group in groups)
    graph.add_edges_from((who, group) for group in groups for who in group)
    return graph


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_an_implementation_by_definition(seed):
    rng = np.random.default_rng(seed)
    papers = [
        (int(rng.integers(0, 20)), rng.choice(9, rng.integers(1, 6), replace=False).tolist())
        for _ in range(60)
    ]
    papers.sort(key=lambda paper: paper[0])
    described = [one for one in brute_force(papers) if len(one[0]) in SIZES]
    # Two teams have one name exactly when one pattern becomes the other by renaming.
    seen = {}
    for (size, named), (team, groups) in zip(largest_groups(papers, []), described, strict=True):
        assert len(team) == size
        name, graph = pattern_name(named, size), incidence(team, groups)
        for key, earlier in seen.items():
            same = nx.is_isomorphic(
                graph, earlier, node_match=lambda one, two: one["side"] == two["side"]
            )
            assert same == (key == (size, name))
        seen.setdefault((size, name), graph)


def test_patterns_are_counted_after_earlier_papers():
    """By number of the person: 0 and 1 wrote paper 0 together, 2 wrote paper 1."""
    earlier = [[0], [0], [1]]
    papers = [(0, (0, 1)), (0, (0, 1, 2)), (0, (3, 4)), (1, (1, 2)), (1, (3, 4, 0)), (1, (5,))]
    counts = pattern_counts(papers, earlier)
    assert counts == {(2, "AB"): 2, (3, "AB"): 2, (2, "none"): 1}
    assert earlier == [[0], [0], [1]]


def test_patterns_of_prolific_people_in_a_window_of_several_years():
    """Two people wrote 200 papers each before, and one together in the first year."""
    earlier = [list(range(200)), list(range(200, 400))]
    assert pattern_counts([(0, (0, 1)), (1, (0, 1))], earlier) == {(2, "none"): 1, (2, "AB"): 1}


def test_the_distance_of_patterns():
    reference = {(2, "AB"): 3, (2, "none"): 1, (3, "AB"): 4}
    assert pattern_distance(reference, reference) == 0
    assert pattern_distance({}, reference) == 1
    # A quarter of the pairs differ, which are half of the papers; all triples do.
    other = {(2, "AB"): 1, (2, "none"): 1, (3, "ABC"): 9}
    assert pattern_distance(other, reference) == pytest.approx(0.25 / 2 + 1 / 2)
    assert np.isnan(pattern_distance(reference, {}))
