"""The network of those who have written lately: by hand, and against networkx."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from tests.metrics.networks.test_structure import reference
from virsci_society.metrics.networks.structure import active_structure

YEAR = 365.0


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


def test_who_has_stopped_writing_is_no_node(make_run):
    """ab on day 0, cd after a year and a half, a alone after two; the run lasts three years."""
    papers = [(0.0, "ab"), (1.5 * YEAR, "cd"), (2 * YEAR, "a")]
    run = make_run(rows_of(papers, before=[("ac", 3)]), {"days": 3 * YEAR})
    table = active_structure(run, windows=(1.0, 2.0), every=YEAR).set_index(["years", "date"])
    recent = table.sort_index().xs(1.0)
    assert recent["nodes"].tolist() == [2, 2, 3, 0]
    assert recent["edges"].tolist() == [1, 1, 1, 0]
    # After one year exactly the paper of day 0 still counts; the run begins with day 0.
    assert recent["giant_share"].tolist()[:3] == pytest.approx([1, 1, 2 / 3])
    assert table.loc[(2.0, 3 * YEAR), "nodes"] == 3
    assert table.loc[(2.0, 2 * YEAR), ["nodes", "edges"]].tolist() == [4, 2]


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_networkx(seed, make_run):
    rng = np.random.default_rng(seed)
    people = [f"S{n}" for n in range(40)]
    papers = [
        (
            float(rng.integers(1, 3 * YEAR)),
            rng.choice(people, rng.integers(1, 5), replace=False).tolist(),
        )
        for _ in range(80)
    ]
    run = make_run(rows_of(papers), {"days": 3 * YEAR})
    for row in active_structure(run, windows=(1.0, 2.0), every=YEAR)[2:].to_dict("records"):
        start = max(row["date"] - row["years"] * YEAR, 0.0)
        window = [by for when, by in papers if start < when <= row["date"]]
        ties = [pair for by in window for pair in combinations(sorted(by), 2)]
        told = reference(Counter(ties), {who for by in window for who in by})
        for name, value in told.items():
            assert row[name] == pytest.approx(value), (row["years"], row["date"], name)
