"""The name of a statistic comes from the function that computed it, and from nowhere else."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from virsci_society.metrics.inference.comparisons import paired, welch
from virsci_society.metrics.inference.correlations import Block, pearson, prcc, rank_trend, spearman
from virsci_society.metrics.inference.intervals import bca_interval, t_interval, wilson_interval
from virsci_society.metrics.inference.two_lines import inverted_u

ROOT = Path(__file__).parents[3]
X = np.array([1.0, 2.5, 2.0, 4.0, 7.0, 5.5])
Y = np.array([2.0, 2.2, 4.0, 3.0, 9.0, 6.0])
NAMES = re.compile(
    r"Student|BCa|Wilson|Welch|Clopper|Fisher|bootstrap|noncentral|\bt (interval|holds)|\"t, 95"
)


def test_each_name_is_that_of_the_interval_whose_bounds_are_given():
    """Against scipy's function of that name."""
    band, scale = t_interval(X), stats.sem(X)
    assert band.method == "Student's t"
    assert (band.low, band.high) == pytest.approx(stats.t.interval(0.95, 5, X.mean(), scale))
    boot = bca_interval(X, seed=3)
    drawn = stats.bootstrap((X,), np.mean, n_resamples=9999, method="BCa", rng=3)
    assert boot.method == "BCa bootstrap"
    assert (boot.low, boot.high) == pytest.approx(tuple(drawn.confidence_interval))
    share = wilson_interval(3, 11)
    exact = stats.binomtest(3, 11).proportion_ci(method="wilson")
    assert share.method == "Wilson"
    assert (share.low, share.high) == pytest.approx((exact.low, exact.high))


def test_tests_and_correlations_bear_their_names():
    assert (paired(X, Y).test, paired(X, Y).difference.method) == ("paired t", "Student's t")
    assert (welch(X, Y).test, welch(X, Y).difference.method) == ("Welch", "Welch's t")
    assert (pearson(X, Y).test, pearson(X, Y).method) == ("Pearson", "Fisher's z")
    assert spearman(X, Y).test == "Spearman"
    assert "Bonett and Wright" in spearman(X, Y).method
    assert prcc({"x": X}, Y)["x"].test == "PRCC"
    blocks = [
        Block(X, Y[order], unit)
        for unit, order in enumerate(([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]))
    ]
    trend = rank_trend(blocks, permutations=99)
    assert (trend.test, trend.method) == ("rank correlation", "Student's t")
    assert rank_trend(blocks[:1], permutations=99).method == spearman(X, Y).method
    assert inverted_u(X, Y).test == "two lines"


@pytest.mark.parametrize("values", [[], [1.0]])
def test_where_there_are_no_bounds_there_is_no_name(values):
    assert t_interval(values).method == bca_interval(values).method == ""
    assert pearson(values, values).method == ""


def test_no_page_has_a_name_of_its_own_for_an_interval():
    """Templates print names that they are handed; a word beside a number may be another's."""
    templates = [*ROOT.glob("metrics/**/*.html"), *ROOT.glob("scenarios/**/*.html")]
    assert len(templates) >= 13
    for template in templates:
        text = re.sub(r"interval\.\w+|novelty\.method", "", template.read_text(encoding="utf-8"))
        # The error of what was observed is no interval: the column bears the word of its code.
        text = text.replace("The error of the observed is a bootstrap over papers", "")
        assert not NAMES.findall(text), template
