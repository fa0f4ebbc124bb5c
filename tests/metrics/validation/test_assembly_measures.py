"""Measures of team assembly, by hand and against other ways to count them."""

import math

import numpy as np
import pytest

from tests.metrics.networks.test_assembly import works
from virsci_society.metrics.networks.team_patterns import assembly_table
from virsci_society.metrics.validation.assembly_measures import (
    ASSEMBLY_MEASURES,
    AuthorHistory,
    assembly_measures,
)
from virsci_society.metrics.validation.dated_papers import coauthorship
from virsci_society.metrics.validation.tolerances import (
    TOLERANCES,
    errors_in_tolerances,
    kolmogorov_smirnov,
    score,
    within_tolerance,
)

YEAR = 365.0
EARLY = [(-400.0, "ab"), (-300.0, "c")]
LATE = [(10.0, "abc"), (20.0, "dea"), (YEAR + 1, "de"), (YEAR + 2, "f")]


def test_by_hand():
    found = assembly_measures(LATE, EARLY)
    assert (found.papers, found.authors) == (4, 6)
    assert found.authors_by_paper.tolist() == [3, 3, 2, 1]
    assert found.authors_per_paper == 9 / 4
    assert found.single_authored == 1 / 4
    # a, d and e have two papers; b, c and f one.
    assert found.papers_per_author == 9 / 6
    assert sorted(found.papers_by_author.tolist()) == [1, 1, 1, 2, 2, 2]
    assert found.gini_papers == pytest.approx(1 / 6)
    # d and e are new in the first year and known in the second; f is new.
    assert found.newcomer_rate == pytest.approx(3 / 9)
    assert found.newcomer_rate_first == pytest.approx(1 / 3)
    assert found.newcomer_rate_middle == pytest.approx(1 / 2)
    assert found.newcomer_rate_last == 0
    # Links: ab ac bc, de da ea, de. Incumbents only: ab ac bc and the second de.
    assert found.newcomer_newcomer == pytest.approx(1 / 7)
    assert found.newcomer_incumbent == pytest.approx(2 / 7)
    assert found.incumbent_incumbent == pytest.approx(4 / 7)
    assert found.q == pytest.approx(2 / 4)
    assert found.repeat_rate == pytest.approx(2 / 7)
    # So does the metric of a run, where the papers of a year are of one date.
    dated = works([(math.floor(day / YEAR), team) for day, team in LATE], "abc", [("a", "b")])
    shares = assembly_table(dated, [9.0]).iloc[0][["p", "q", "repeat_rate"]].tolist()
    assert shares == pytest.approx([1 - found.newcomer_rate, found.q, found.repeat_rate])
    # Ties: ab ac bc ad ae de; f has none.
    assert sorted(found.coauthors_by_author.tolist()) == [0, 2, 2, 2, 2, 4]
    assert found.coauthors_per_author == 2
    assert found.giant_component_authors == pytest.approx(5 / 6)
    assert found.clustering == pytest.approx((4 + 2 / 6) / 5)
    # From the year -2 to 0 for ab, from 0 to 1 for de, and none for the other four.
    assert found.tie_lifetime == pytest.approx(3 / 6)


def test_a_tie_whose_first_paper_has_no_date_has_no_lifetime():
    known = AuthorHistory.from_papers(EARLY, pairs=[("a", "b")])
    assert assembly_measures(LATE, known).tie_lifetime == pytest.approx(1 / 5)
    more = AuthorHistory.from_papers(EARLY).with_ties(["a", "b"], np.array([0]), np.array([1]))
    assert assembly_measures(LATE, more).tie_lifetime == pytest.approx(1 / 5)


def test_papers_of_one_period_know_nothing_of_each_other():
    one_year = assembly_measures([(0, "ab"), (300, "ab")])
    assert (one_year.newcomer_rate, one_year.repeat_rate) == (1, 0)
    months = assembly_measures([(0, "ab"), (300, "ab")], period=30)
    assert (months.newcomer_rate, months.repeat_rate, months.q) == (0.5, 0.5, 1)


def test_nothing_is_measured_of_nothing():
    found = assembly_measures([(0, ""), (1, ())], EARLY)
    assert (found.papers, found.authors) == (0, 0)
    assert all(math.isnan(value) for value in list(found.numbers().values())[2:])
    assert list(found.numbers()) == list(ASSEMBLY_MEASURES)


def test_an_author_named_twice_counts_once():
    assert assembly_measures([(0, "aab")]).authors_by_paper.tolist() == [2]


def test_those_who_write_alone_are_in_no_component_of_the_others():
    found = assembly_measures([(0, "a"), (0, "b")])
    assert (found.giant_component_authors, found.coauthors_per_author) == (0, 0)
    assert math.isnan(found.clustering)


def test_a_history_may_hold_more_than_its_papers():
    known = AuthorHistory.from_papers(EARLY, authors="x", pairs=[("d", "e"), ("y", "y")])
    assert "x" in known.numbers
    assert "y" not in known.numbers
    found = assembly_measures([(0, "de"), (0, "xb")], known)
    assert (found.newcomer_rate, found.repeat_rate) == (0, 0.5)


def test_the_tolerances_are_fourteen_and_a_community_is_within_them_of_itself():
    found = assembly_measures(LATE, EARLY)
    errors = errors_in_tolerances(found, found)
    assert list(errors) == list(TOLERANCES)
    assert len(errors) == 14
    assert score(errors) == 0
    assert within_tolerance(errors) == 14


def test_errors_by_hand():
    one = assembly_measures([(0, "ab"), (0, "cd"), (0, "ef"), (0, "gh")], EARLY)
    other = assembly_measures([(0, "ab"), (0, "cd"), (0, "e"), (0, "fg")], EARLY)
    errors = errors_in_tolerances(one, other)
    assert errors["single_authored"] == pytest.approx(-0.25 / 0.02)
    assert errors["authors"] == pytest.approx((8 - 7) / 7 / 0.08)
    assert errors["authors_by_paper"] == pytest.approx(0.25 / 0.05)
    assert errors["newcomer_rate"] == pytest.approx((5 / 8 - 4 / 7) / 0.04)
    assert score({"a": 3.0, "b": 4.0, "c": math.nan}) == pytest.approx(math.sqrt(12.5))
    assert score({"a": 3.0, "b": -40.0}) == pytest.approx(math.sqrt((9 + 25) / 2))
    assert score({"a": 3.0, "b": -4.0, "c": 12}, math.inf) == pytest.approx(13 / math.sqrt(3))
    assert within_tolerance({"a": -1.0, "b": 1.01, "c": math.nan}) == 1
    assert math.isnan(score({"a": math.nan}))


def test_a_society_without_a_paper_does_not_pass():
    errors = errors_in_tolerances(assembly_measures([]), assembly_measures(LATE, EARLY))
    assert errors["newcomer_rate"] == pytest.approx(1 / 0.04)
    assert errors["authors"] == pytest.approx(-1 / 0.08)
    assert within_tolerance(errors) <= 1
    assert score(errors) > 4.5


def test_kolmogorov_smirnov_is_that_of_scipy():
    from scipy import stats

    rng = np.random.default_rng(0)
    one, other = rng.poisson(3, 80), rng.poisson(4, 60)
    assert kolmogorov_smirnov(one, other) == pytest.approx(stats.ks_2samp(one, other).statistic)
    assert np.isnan(kolmogorov_smirnov(one, np.zeros(0, dtype=np.int64)))


def test_coauthorship_is_that_of_the_papers_of_a_run(make_run):
    """S1, S2, S3 and S4 wrote one paper; S1 and S2 had written together, S4 had written nothing."""
    row = coauthorship(make_run()).iloc[0]
    papers, known = [(50.0, ("S1", "S2", "S3", "S4"))], ["S1", "S2", "S3"]
    found = assembly_measures(papers, AuthorHistory.from_papers([], known, [("S1", "S2")]))
    for name, value in found.numbers().items():
        assert math.isnan(value) if row.isna()[name] else row[name] == pytest.approx(value), name
