"""Observed beside simulated, by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

from metrics.compare import (
    QUANTITIES,
    SOURCES,
    Side,
    compare,
    jensen_shannon,
    kolmogorov_smirnov,
    simulated,
    topics_of,
)
from metrics.works import Works


def side(papers, keywords=(), veterans="", pairs=()):
    """Papers as (date, authors)."""
    rows = [
        (f"P{n}", who, float(day)) for n, (day, authors) in enumerate(papers) for who in authors
    ]
    table = pd.DataFrame(rows, columns=["paper", "scientist", "date"])
    works = Works(table, frozenset(veterans), frozenset(pairs))
    return Side(works, *topics_of([words.split() for words in keywords]))


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
    table = compare(sides).set_index("quantity")
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
    table = compare(sides).set_index("quantity")
    # Sizes 2, 2, 2 against 1, 2, 3: a third lies below 2 and a third above.
    assert table.loc["team size", "distance"] == pytest.approx(1 / 3)
    # x 2/3, y 1/3 against x 1/4, y 1/4, z 1/2.
    expected = jensenshannon([2 / 3, 1 / 3, 0], [1 / 4, 1 / 4, 1 / 2], base=2)
    assert table.loc["topic mix", "distance"] == pytest.approx(expected)


def test_a_source_is_at_no_distance_from_itself(sides):
    table = compare(sides).set_index("quantity")
    same = table["distance_before"].dropna()
    assert np.allclose(same.to_numpy(dtype=float), 0)
    assert {"team size", "topic mix", "repeats q"} <= set(same.index)


def test_what_is_not_known_is_missing(sides):
    table = compare(sides).set_index("quantity")
    assert table.loc["papers", "observed_inside"] == 0
    for name in ("team size", "repeats q", "giant component"):
        assert table.loc[name, ["observed_inside", "distance_inside"]].isna().all()
    assert pd.isna(table.loc["topic mix", "distance_inside"])
    assert table.loc["degree tail alpha", list(SOURCES)].isna().all()
    assert list(table.index) == list(QUANTITIES)


def test_those_who_write_alone_are_in_no_component_of_the_others(sides):
    alone = side([(1, "a"), (2, "b"), (3, "c")])
    row = compare({**sides, "simulated": alone}).set_index("quantity")["simulated"]
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
    assert topics_of([["A", "b "], ["a"], [], [""]]) == ({"a": 1.5, "b": 0.5}, 2)


def test_the_simulated_side_of_a_run(run):
    found = simulated(run)
    assert found.topics == {"a": 0.5, "b": 0.5}
    assert len(found.works.rows) == 4
    assert "S1" in found.works.veterans
    assert "S4" not in found.works.veterans
