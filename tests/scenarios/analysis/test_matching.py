"""Ideas beside later papers: planted copies, thresholds with a known answer, controls."""

import numpy as np
import pytest

from virsci_society.metrics.novelty.novelty import Database
from virsci_society.scenarios.analysis import backtest
from virsci_society.scenarios.analysis.backtest import (
    CHANCE,
    match_ideas,
    nearest,
    sample_rows,
    threshold_of,
)

NONE = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def points(seed, count, size=12):
    return np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)


def later_papers(vectors, years=None, citations=None):
    years = np.arange(len(vectors)) % 5 + 2012 if years is None else np.asarray(years)
    return Database(vectors, years, citations, [f"P{row:03}" for row in range(len(vectors))])


def test_planted_copies_are_found_with_year_number_and_citations():
    """Two copies of an idea, of 2014 and 2013, among five papers, worked by hand."""
    axes = np.eye(5, dtype=np.float32)
    vectors = np.stack([axes[0], axes[1], 2 * axes[1], axes[2], axes[3]])
    database = later_papers(vectors, [2012, 2014, 2013, 2013, 2014], np.array([4, 9.0, 3, 5, 1]))
    found = match_ideas(np.stack([axes[1], axes[4]]), database, 0.9)
    copied, alone = found.iloc[0], found.iloc[1]
    assert bool(copied["came_true"])
    assert (copied["papers"], copied["first"], copied["first_year"]) == (2, "P002", 2013)
    # Of equal similarity: the earlier paper. Its year's mean is 4, that of the other's 5.
    assert (copied["similarity"], copied["nearest"], copied["citations"]) == (1.0, "P002", 6.0)
    assert copied["relative_citations"] == pytest.approx((3 / 4 + 9 / 5) / 2)
    assert not alone["came_true"]
    assert alone["papers"] == 0
    assert found.loc[1, ["first", "first_year", "citations"]].isna().all()


def test_unknown_citations_are_missing_and_not_zero():
    vectors = np.eye(3, dtype=np.float32)
    some = match_ideas(vectors, later_papers(vectors, [2012] * 3, np.array([np.nan, 2, 4])), 0.9)
    assert some["citations"].isna().tolist() == [True, False, False]
    assert some["relative_citations"].dropna().tolist() == [2 / 3, 4 / 3]
    assert match_ideas(vectors, later_papers(vectors), 0.9)["citations"].isna().all()


def test_real_later_papers_all_come_true_and_without_themselves_those_with_a_twin():
    new = points(1, 90)
    new[1] = 3 * new[0]
    chosen = threshold_of(points(2, 300), new, NONE)
    rows = sample_rows(new)
    database = later_papers(new)
    assert match_ideas(new[rows], database, chosen)["came_true"].all()
    others = match_ideas(new[rows], database, chosen, rows)
    assert others["came_true"][:2].all()
    assert others["came_true"].mean() < 0.5
    assert others["nearest"][0] == "P001"


def test_even_where_the_corpus_repeats_itself_a_paper_matches_itself_and_no_empty_text_does():
    new = points(3, 40)
    new[7] = 0
    chosen = threshold_of(new, new, NONE)
    found = match_ideas(new, later_papers(new), chosen)
    assert found["came_true"].tolist() == [row != 7 for row in range(40)]
    assert 7 not in sample_rows(new)


def test_of_unrelated_past_papers_as_many_come_true_as_the_threshold_says():
    old, new = points(4, 400), points(5, 250)
    chosen = threshold_of(old, new, NONE)
    share = match_ideas(old, later_papers(new), chosen)["came_true"].mean()
    assert CHANCE <= share <= CHANCE + 1 / 400
    # More later papers: a higher threshold, and the same share.
    many = points(6, 2500)
    higher = threshold_of(old, many, NONE)
    assert higher > chosen
    again = match_ideas(old, later_papers(many), higher)["came_true"].mean()
    assert CHANCE <= again <= CHANCE + 1 / 400


def test_follow_ups_do_not_raise_the_threshold():
    old, new = points(7, 300), points(8, 200)
    plain = threshold_of(old, new, NONE)
    rows = np.arange(100)
    near = np.concatenate([new, old[rows] + 0.05 * points(9, 100)])
    assert abs(threshold_of(old, near, (rows, rows + 200)) - plain) < 0.05
    # Left in, a third of the past papers would have a near copy.
    assert threshold_of(old, near, NONE) > 0.99


def test_blocks_and_samples_change_no_match(monkeypatch):
    ideas, new = points(12, 23), points(13, 61)
    whole = match_ideas(ideas, later_papers(new), 0.6)
    rows, cosines = nearest(ideas, new)
    monkeypatch.setattr(backtest, "BLOCK", 4)
    assert match_ideas(ideas, later_papers(new), 0.6).equals(whole)
    unit = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in (ideas, new)]
    table = unit[0] @ unit[1].T
    assert rows.tolist() == table.argmax(axis=1).tolist()
    np.testing.assert_allclose(cosines, table.max(axis=1), atol=1e-6)
    assert whole["papers"].tolist() == (table >= 0.6).sum(axis=1).tolist()
    monkeypatch.setattr(backtest, "SAMPLE", 20)
    taken = sample_rows(new)
    assert len(taken) == 20
    assert taken.tolist() == sorted(set(taken)) == sample_rows(new).tolist()
