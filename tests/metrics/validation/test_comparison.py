"""Observed beside simulated, by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from metrics.impact.authorships import AuthorshipTable
from metrics.validation.comparison import (
    QUANTITIES,
    SOURCES,
    compare_samples,
    jensen_shannon,
    keyword_weights,
    kolmogorov_smirnov,
    paper_sample,
    simulated_sample,
)


def side(papers, keywords=(), veterans="", pairs=(), **more):
    """Papers as (date, authors)."""
    rows = [
        (f"P{n}", who, float(day)) for n, (day, authors) in enumerate(papers) for who in authors
    ]
    table = pd.DataFrame(rows, columns=["paper", "scientist", "date"])
    works = AuthorshipTable(table, frozenset(veterans), frozenset(pairs))
    return paper_sample(works, [words.split() for words in keywords], **more)


@pytest.fixture
def sides():
    ours = side([(1, "ab"), (2, "ab"), (3, "cd")], ["x", "x", "y"], "abcd")
    really = side([(1, "abc"), (2, "de"), (3, "d")], ["x y", "", "z"], "abc", [("a", "b")])
    nothing = side([])
    return {
        "simulated": ours,
        "observed": really,
        "observed_inside": nothing,
        "before": really,
    }


def test_scalars_by_hand(sides):
    table = compare_samples(sides).set_index("quantity")
    told = table[["simulated", "observed", "distance"]]
    assert told.loc["papers"].tolist() == [3, 3, 0]
    assert told.loc["authors"].tolist() == [4, 5, -1]
    assert told.loc["team size", ["simulated", "observed"]].tolist() == [2, 2]
    assert told.loc["alone"].tolist() == pytest.approx([0, 1 / 3, -1 / 3])
    assert told.loc["papers per author"].tolist()[:2] == pytest.approx([6 / 4, 6 / 5])
    # d and e write their first paper at 2; d is no newcomer at 3.
    assert told.loc["newcomer rate", "observed"] == pytest.approx(2 / 6)
    assert told.loc["incumbents p", "observed"] == pytest.approx(4 / 6)
    # Of ab, ac, bc (incumbents all) ab is old; de is new.
    assert told.loc["repeats q"].tolist() == pytest.approx([1 / 3, 1 / 3, 0])
    assert told.loc["repeat rate", "observed"] == pytest.approx(1 / 4)
    assert told.loc["co-authors"].tolist()[:2] == pytest.approx([1, (2 * 3 + 2) / 5])
    assert told.loc["giant component"].tolist() == pytest.approx([0.5, 3 / 5, -0.1])
    assert told.loc["clustering", "observed"] == pytest.approx(3 / 5)
    assert told.loc["without keywords", "observed"] == pytest.approx(1 / 3)
    assert told.loc["topic mix", ["simulated", "observed"]].tolist() == [2, 3]


def test_distances_of_distributions_by_hand(sides):
    table = compare_samples(sides).set_index("quantity")
    # Sizes 2, 2, 2 against 1, 2, 3: a third lies below 2 and a third above.
    assert table.loc["team size", "distance"] == pytest.approx(1 / 3)
    # x 2/3, y 1/3 against x 1/4, y 1/4, z 1/2.
    p, q = np.array([2 / 3, 1 / 3, 0]), np.array([1 / 4, 1 / 4, 1 / 2])
    halves = [stats.entropy(side, (p + q) / 2, base=2) for side in (p, q)]
    expected = np.sqrt(sum(halves) / 2)
    assert table.loc["topic mix", "distance"] == pytest.approx(expected)


def test_a_source_is_at_no_distance_from_itself(sides):
    table = compare_samples(sides).set_index("quantity")
    same = table["distance_before"].dropna()
    assert np.allclose(same.to_numpy(dtype=float), 0)
    assert {"team size", "topic mix", "repeats q"} <= set(same.index)


def test_what_is_not_known_is_missing(sides):
    table = compare_samples(sides).set_index("quantity")
    assert table.loc["papers", "observed_inside"] == 0
    for name in ("team size", "repeats q", "giant component"):
        assert table.loc[name, ["observed_inside", "distance_inside"]].isna().all()
    assert pd.isna(table.loc["topic mix", "distance_inside"])
    assert table.loc["degree tail alpha", list(SOURCES)].isna().all()
    assert list(table.index) == list(QUANTITIES)


def test_those_who_write_alone_are_in_no_component_of_the_others(sides):
    alone = side([(1, "a"), (2, "b"), (3, "c")])
    row = compare_samples({**sides, "simulated": alone}).set_index("quantity")["simulated"]
    assert row["co-authors"] == 0
    assert row["giant component"] == 0
    assert row["clustering"] is pd.NA


def test_kolmogorov_smirnov_is_that_of_scipy():
    rng = np.random.default_rng(0)
    one, other = rng.poisson(3, 80).astype(float), rng.poisson(4, 60).astype(float)
    assert kolmogorov_smirnov(one, other) == pytest.approx(stats.ks_2samp(one, other).statistic)
    assert np.isnan(kolmogorov_smirnov(one, np.empty(0)))


def test_jensen_shannon_runs_from_nothing_to_one():
    assert jensen_shannon({"a": 2.0, "b": 1.0}, {"a": 4.0, "b": 2.0}) == pytest.approx(0, abs=1e-7)
    assert jensen_shannon({"a": 1.0}, {"b": 5.0}) == pytest.approx(1)
    assert np.isnan(jensen_shannon({}, {"a": 1.0}))


def test_keywords_of_a_paper_share_its_weight():
    assert keyword_weights([["A", "b "], ["a"], [], [""]]) == ({"a": 1.5, "b": 0.5}, 2)


def test_the_simulated_side_of_a_run(run):
    found = simulated_sample(run, 365.0)
    assert found.people == 7
    assert found.topics == {"a": 0.5, "b": 0.5}
    assert len(found.authorships.rows) == 4
    assert "S1" in found.authorships.prior_authors
    assert "S4" not in found.authorships.prior_authors


def test_everybody_of_a_large_society_could_write_also_who_is_not_listed(rows, make_run):
    rows["scientists"].append(("S8", "graphs", 0, 0, None, 40.0))
    manifest = {"days": 365.0, "ecosystem": {"counts": {"scientists": 30_000}}}
    assert simulated_sample(make_run(rows, manifest), 365.0).people == 30_001


def test_the_simulated_side_is_dated_by_the_year_and_ends_with_what_is_compared(rows, make_run):
    rows["papers"].append(("S5/1", "S5/1", "Late", "Late.", 400.0, "vision", "c"))
    rows["authorships"] += [("S5/1", "S1", 0), ("S5/1", "S2", 1)]
    run = make_run(rows, {"days": 500.0})
    dates = simulated_sample(run, 730.0).authorships.rows.groupby("paper")["date"].first()
    assert dates.to_dict() == {"S1/1": 0.0, "S5/1": 365.0}
    first = simulated_sample(run, 365.0)
    assert set(first.authorships.rows["paper"]) == {"S1/1"}
    assert "c" not in first.topics


def test_papers_of_one_year_know_nothing_of_each_other_on_either_side(sides):
    """Daily dates would make a newcomer of the first paper an incumbent of the second."""
    year = side([(0, "ab"), (0, "ab"), (365, "ab")])
    row = compare_samples({**sides, "simulated": year}).set_index("quantity")["simulated"]
    assert row["newcomer rate"] == pytest.approx(4 / 6)
    assert row["repeat rate"] == pytest.approx(1 / 3)


def test_sizes_and_activity_of_those_inside(sides):
    inside = side([(1, "a"), (2, "ab")], sizes=np.array([4.0, 2.0]), people=8)
    table = compare_samples({**sides, "observed_inside": inside}).set_index("quantity")
    assert table.loc["team size", "observed_inside"] == 3
    assert table.loc["alone", "observed_inside"] == 0
    assert table.loc["co-authors", "observed_inside"] == 1
    assert table.loc["active", "observed_inside"] == 2 / 8
    assert pd.isna(table.loc["active", "observed"])


def test_words_of_keywords_are_compared_too(sides):
    works = sides["observed"].authorships
    both = [["Graph drawing", "graph-layout"], []]
    found = paper_sample(works, both)
    assert found.topics == {"graph drawing": 0.5, "graph-layout": 0.5}
    assert found.words == pytest.approx({"graph": 1 / 3, "drawing": 1 / 3, "layout": 1 / 3})
