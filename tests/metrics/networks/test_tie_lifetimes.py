"""Strength and lifetime of ties: by hand, and against a plain loop over the papers."""

from collections import defaultdict
from itertools import combinations
from math import log
from statistics import fmean

import numpy as np
import pandas as pd
import pytest

from virsci_society.metrics.networks.tie_lifetimes import super_ties, tie_lifetimes, tie_strengths


def rows_of(papers, before=()):
    """Rows of a run with papers given as (date, authors), and ties before day 0."""
    ties = [(*sorted(pair), -1.0, papers) for pair, papers in before]
    for date, by in papers:
        ties += [(*pair, float(date), 1) for pair in combinations(sorted(by), 2)]
    return {
        "papers": [
            (f"P{n}", f"P{n}", "Title", "Words.", float(date), "graphs", "a")
            for n, (date, _) in enumerate(papers)
        ],
        "authorships": [
            (f"P{n}", who, place)
            for n, (_, by) in enumerate(papers)
            for place, who in enumerate(by)
        ],
        "ties": ties,
    }


@pytest.fixture
def by_hand(make_run):
    """ab write three papers in 600 days, ac one in the last year, de two on days 10 and 40."""
    papers = [(100, "ab"), (300, "ab"), (700, "ab"), (650, "ac"), (10, "de"), (40, "de"), (5, "a")]
    return make_run(rows_of(papers, before=[("ab", 4), ("xy", 1)]), {"days": 800.0})


def test_ties_from_before_have_a_strength_and_no_lifetime(by_hand):
    row = tie_lifetimes(by_hand).set_index("network").loc["all"]
    assert row[["pairs", "joint_papers"]].tolist() == [4, 11]
    assert row[["lifetime", "lifetime_repeated", "gap", "unfinished", "overlap"]].isna().all()


def test_strengths_by_hand(by_hand):
    table = tie_strengths(by_hand).set_index(["network", "joint_papers"])
    grown = table.loc["grown"]
    assert grown["pairs"].to_dict() == {1: 1, 2: 1, 3: 1}
    assert grown["share_above"].tolist() == pytest.approx([1, 2 / 3, 1 / 3])
    assert grown["lifetime"].tolist() == [0.0, 30.0, 600.0]
    assert table.loc["all"]["pairs"].to_dict() == {1: 2, 2: 1, 7: 1}
    assert table.loc["all"]["lifetime"].isna().all()


def test_the_threshold_of_super_ties():
    """Mean 2.5 and four ties: (2.5 - 1) ln 4 = 2.08, so 7 is a super tie and 1 is none."""
    ends = pd.DataFrame({"scientist": list("aaaab"), "joint_papers": [7, 1, 1, 1, 9]})
    assert super_ties(ends).tolist() == [True, False, False, False, False]


def reference(papers, days):
    """The figures of the grown network from a plain loop."""
    dates, written = defaultdict(list), defaultdict(int)
    for date, by in papers:
        for who in by:
            written[who] += 1
        for pair in combinations(sorted(by), 2):
            dates[pair].append(date)
    mine = defaultdict(list)
    for pair, when in dates.items():
        for who in pair:
            mine[who].append(len(when))
    lived = {pair: max(when) - min(when) for pair, when in dates.items()}
    again = [pair for pair, when in dates.items() if len(when) > 1]
    strong = {
        who: [k > (fmean(ties) - 1) * log(len(ties)) and k >= 2 and len(ties) >= 2 for k in ties]
        for who, ties in mine.items()
    }
    gaps = [
        later - earlier
        for when in dates.values()
        for earlier, later in zip(sorted(when), sorted(when)[1:], strict=False)
    ]
    return {
        "pairs": len(dates),
        "joint_papers": sum(map(len, dates.values())),
        "strength": fmean(map(len, dates.values())),
        "once": fmean(len(when) == 1 for when in dates.values()),
        "lifetime": fmean(lived.values()),
        "lifetime_repeated": fmean(lived[pair] for pair in again),
        "gap": fmean(gaps),
        "unfinished": fmean(days - max(when) < 365 for when in dates.values()),
        "scientists": len(mine),
        "super_ties": fmean(one for ties in strong.values() for one in ties),
        "with_super_tie": fmean(any(ties) for ties in strong.values()),
        "overlap": fmean(max(ties) / written[who] for who, ties in mine.items()),
    }


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_a_plain_loop(seed, make_run):
    rng = np.random.default_rng(seed)
    people = [f"S{n}" for n in range(12)]
    papers = [
        (
            float(rng.integers(0, 900)),
            rng.choice(people, rng.integers(1, 5), replace=False).tolist(),
        )
        for _ in range(70)
    ]
    row = tie_lifetimes(make_run(rows_of(papers), {"days": 900.0})).set_index("network")
    for name, value in reference(papers, 900.0).items():
        assert row.loc["grown", name] == pytest.approx(value), name
