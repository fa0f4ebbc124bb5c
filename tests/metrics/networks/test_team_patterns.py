"""Repeated pairs, triples and teams: by hand, and against sets compared one with another."""

from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from virsci_society.metrics.networks.team_patterns import (
    LARGEST,
    SIZES,
    pattern_counts,
    pattern_distance,
    pattern_name,
    pattern_names,
    pattern_table,
    patterns,
    repeated_groups,
    repetition_table,
    team_histories,
)

COUNTED = ["pairs", "repeated_pairs", "triples", "repeated_triples", "whole", "same"]


def rows(papers):
    """Authorships of papers given as (date, authors)."""
    listed = [(f"P{n}", who, float(date)) for n, (date, by) in enumerate(papers) for who in by]
    return pd.DataFrame(listed, columns=["paper", "scientist", "date"])


def names(papers, **since):
    """The pattern of each paper of two to four authors."""
    return [pattern_name(one.groups, one.size) for one in team_histories(rows(papers), **since)]


def test_there_are_as_many_patterns_as_simplicial_complexes():
    """2, 5 and 20 for two, three and four unnamed points (sequence A261005)."""
    assert [len(pattern_names(size)) for size in SIZES] == [2, 5, 20]
    assert pattern_names(3) == ("none", "AB", "AB AC", "AB AC BC", "ABC")


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
    found = names(list(enumerate(papers)))
    assert found[-1] == pattern


def test_papers_before_a_date_are_known_and_not_counted():
    assert names([(-5, "abc"), (1, "ab")], since=0.0) == ["AB"]


def test_groups_by_hand():
    """abcd was never together; ab, cd and abc were. abc: all on abcx, and a paper of their own."""
    papers = [(1, "abcx"), (2, "cd"), (3, "abcd"), (4, "abc"), (5, "abc"), (6, "e"), (7, "ef")]
    table = repetition_table(team_histories(rows(papers))).set_index("authors")
    assert table["papers"].to_dict() == {2: 2, 3: 2, 4: 2}
    # Of abcx and abcd together: 12 pairs, of which ab, ac, bc and cd; 8 triples, of which abc.
    assert table.loc[4, COUNTED].tolist() == [12, 4, 8, 1, 0, 0]
    assert table.loc[3, COUNTED].tolist() == [6, 6, 2, 2, 2, 1]
    assert table.loc[2, COUNTED].tolist() == [2, 0, 0, 0, 0, 0]
    assert table.loc[4, "pair_share"] == pytest.approx(1 / 3)
    assert table.loc[3, ["triple_share", "whole_share", "same_share"]].tolist() == [1, 1, 0.5]
    assert table.loc[2, "triple_share"] is pd.NA


def brute_force(papers):
    """The same by definition: every set of authors against every earlier paper, as sets."""
    counts, found = {}, []
    for date, by in papers:
        team, size = frozenset(by), len(by)
        earlier = [frozenset(others) for when, others in papers if when < date]
        told = {
            frozenset(part)
            for order in range(2, size + 1)
            for part in combinations(sorted(team), order)
            if any(set(part) <= others for others in earlier)
        }
        if size > 1:
            pairs, triples = (list(combinations(sorted(team), order)) for order in (2, 3))
            row = counts.setdefault(size, np.zeros(7, dtype=int))
            row += [
                *(1, len(pairs), sum(frozenset(one) in told for one in pairs)),
                *(len(triples), sum(frozenset(one) in told for one in triples)),
                *(team in told, team in earlier),
            ]
        found.append((team, {one for one in told if not any(one < other for other in told)}))
    return counts, found


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
    people = [f"S{n}" for n in range(9)]
    papers = [
        (float(rng.integers(0, 20)), list(rng.choice(people, rng.integers(1, 6), replace=False)))
        for _ in range(60)
    ]
    papers = sorted(papers, key=lambda paper: paper[0])
    counts, told = brute_force(papers)
    histories = team_histories(rows(papers))
    table = repetition_table(histories).set_index("authors")
    assert set(table.index) == set(counts)
    for size, row in counts.items():
        assert table.loc[size, ["papers", *COUNTED]].tolist() == row.tolist()

    # Two teams have one name exactly when one pattern becomes the other by renaming.
    seen = {}
    order = sorted(range(len(papers)), key=lambda n: (papers[n][0], f"P{n}"))
    for history, number in zip(histories, order, strict=True):
        team, groups = told[number]
        assert len(team) == history.size
        if history.size not in SIZES:
            continue
        name = pattern_name(history.groups, history.size)
        graph = incidence(team, groups)
        for (size, other), earlier in seen.items():
            same = nx.is_isomorphic(
                graph, earlier, node_match=lambda one, two: one["side"] == two["side"]
            )
            assert same == ((size, other) == (history.size, name))
        seen.setdefault((history.size, name), graph)


def test_very_large_papers_are_known_and_not_described():
    crowd = [f"S{n:02}" for n in range(LARGEST + 1)]
    (history,) = team_histories(rows([(1, crowd), (2, crowd[:3])]))
    assert history.size == 3
    assert history.whole
    assert not history.same


def test_the_hand_made_run(run, empty_run):
    """One paper of four authors; what they wrote before day 0 is not dated, and is left out."""
    table = patterns(run).set_index(["authors", "pattern"])
    assert table["papers"].sum() == table.loc[(4, "none"), "papers"] == 1
    assert table.loc[(4, "none"), "share"] == 1.0
    assert table.loc[(2, "AB"), "share"] is pd.NA
    groups = repeated_groups(run)
    assert groups[["authors", "papers", *COUNTED]].values.tolist() == [[4, 1, 6, 0, 4, 0, 0, 0]]
    assert len(repeated_groups(empty_run)) == 0
    assert pattern_table([])["papers"].sum() == 0


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
