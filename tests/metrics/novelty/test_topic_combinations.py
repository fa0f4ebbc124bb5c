import itertools
from collections import Counter

import numpy as np
import pytest

from virsci_society.metrics.novelty.novelty import Database, Databases
from virsci_society.metrics.novelty.topic_combinations import (
    combinations,
    group_percentiles,
    main_keywords,
    pair_counts,
    pair_z_scores,
    shuffle_citations,
)


def pairs_of(citing, cited):
    return sorted(zip(citing.tolist(), cited.tolist(), strict=True))


@pytest.fixture
def network():
    """Eighty papers with eight references each among two hundred, of four years."""
    rng = np.random.default_rng(0)
    citing = np.repeat(np.arange(80), 8)
    cited = np.concatenate([rng.choice(200, 8, replace=False) for _ in range(80)])
    return citing, cited, np.arange(200) % 4


def test_shuffling_keeps_references_citations_and_years(network):
    citing, cited, years = network
    rng = np.random.default_rng(1)
    now = shuffle_citations(citing, cited, years, rng)
    assert sorted(now) == sorted(cited)
    assert pairs_of(citing, years[now]) == pairs_of(citing, years[cited])
    assert len(set(pairs_of(citing, now))) == len(citing)
    assert (now != cited).mean() > 0.8


def test_pairs_of_topics_are_counted_by_hand():
    """One paper cites topics 0, 0, 1, another 1, 2: 00 once, 01 twice, 12 once."""
    counts = pair_counts(np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2]), 3).toarray()
    assert counts.tolist() == [[1, 2, 0], [0, 0, 1], [0, 0, 0]]


def test_pairs_made_at_random_have_a_z_around_zero(network):
    citing, cited, years = network
    of, every = pair_z_scores(citing, cited, np.arange(200) % 5, years, np.random.default_rng(2))
    assert np.bincount(of).tolist() == [28] * 80
    assert len(every) == 80 * 28
    assert abs(np.median(every)) < 1.0


def test_pairs_that_go_together_have_a_high_z_and_a_mixed_one_a_low():
    """Papers keep to topic 0 or to topic 1, but the last cites both."""
    rng = np.random.default_rng(0)
    pools = [np.arange(0, 60), np.arange(60, 120)]
    rows = [rng.choice(pools[n % 2], 6, replace=False) for n in range(60)]
    rows.append(np.array([0, 1, 2, 60, 61, 62]))
    citing, cited = np.repeat(np.arange(61), 6), np.concatenate(rows)
    topics = np.repeat([0, 1], 60)
    of, z = pair_z_scores(citing, cited, topics, np.zeros(120, dtype=int), np.random.default_rng(1))
    assert min(np.median(z[of == n]) for n in range(60)) > 5
    assert np.percentile(z[of == 60], 10) < -5
    again = pair_z_scores(citing, cited, topics, np.zeros(120, dtype=int), np.random.default_rng(1))
    np.testing.assert_array_equal((of, z), again)


def test_z_is_that_of_a_plain_count(network, monkeypatch):
    """The same draws, counted pair by pair: (times - mean) / standard deviation of the nulls."""
    citing, cited, years = network
    topics, nulls = np.arange(200) % 7, []

    def noted(*arguments):
        nulls.append(shuffle_citations(*arguments))
        return nulls[-1]

    monkeypatch.setattr(
        "virsci_society.metrics.novelty.topic_combinations.shuffle_citations", noted
    )
    of, z = pair_z_scores(citing, cited, topics, years, np.random.default_rng(4))

    def counted(now):
        return Counter(
            tuple(sorted((topics[a], topics[b])))
            for paper in range(80)
            for a, b in itertools.combinations(now[citing == paper], 2)
        )

    times, random = counted(cited), [counted(now) for now in nulls[1:]]
    assert len(random) == 10
    for paper in (0, 41, 79):
        expected = []
        for a, b in itertools.combinations(cited[citing == paper], 2):
            pair = tuple(sorted((topics[a], topics[b])))
            null = [one[pair] for one in random]
            expected.append((times[pair] - np.mean(null)) / np.std(null, ddof=1))
        np.testing.assert_allclose(np.sort(z[of == paper]), np.sort(expected))


def test_percentiles_of_groups_are_those_of_numpy():
    rng = np.random.default_rng(3)
    of, values = np.sort(rng.integers(0, 9, 60)), rng.normal(size=60)
    of = of[of != 4]
    values = values[: len(of)]
    percents = (10.0, 50.0, 100.0)
    for percent, found in zip(percents, group_percentiles(of, values, 9, percents), strict=True):
        assert np.isnan(found[4])
        for group in set(of.tolist()):
            assert found[group] == pytest.approx(np.percentile(values[of == group], percent))


def test_the_commonest_keyword_is_the_topic():
    words = {"A": ["Graphs", "trees"], "B": ["graphs"], "C": ["Trees ", "zoo"], "D": [], "E": [""]}
    assert main_keywords(words) == {"A": "graphs", "B": "graphs", "C": "trees"}
    assert main_keywords({"A": ["b", "a"]}) == {"A": "a"}


def test_a_run_without_the_past_at_hand_has_no_combination(run, empty_run):
    table = combinations(run)
    assert table["pairs"].tolist() == [0]
    assert table[["typical", "atypical"]].isna().all(axis=None)
    assert combinations(empty_run).empty


def test_topics_of_the_past_come_from_its_keywords(rows, make_run):
    """Eight papers of one year, each citing two of four past papers of two topics."""
    rows["papers"] = [(f"T{n}", "S1/1", "t", "", 50.0, "x", "") for n in range(8)]
    past = [("P1", "P2"), ("P3", "P4")] * 4
    rows["citations"] = [(f"T{n}", one, 50.0, False) for n in range(8) for one in past[n]]
    words = [("maps", "v"), ("maps", "w"), ("trees",), ("trees", "u")]
    flat = np.zeros((4, 2), dtype=np.float32)
    years = np.full(4, 2010)
    database = Database(flat, years, None, ("P1", "P2", "P3", "P4"), keywords=words.__getitem__)
    run = make_run(rows, databases=Databases(database, database))
    table = combinations(run).set_index("paper")
    assert table["references"].tolist() == [2] * 8
    assert table["pairs"].tolist() == [1] * 8
    assert (table["typical"] > 0).all()
