"""The trend rival by hand, intervals, and how a held-out window is judged."""

import math

import numpy as np
import pytest

from virsci_society.metrics.validation.tolerances import TOLERANCES
from virsci_society.scenarios.calibration.fitting import windows_before
from virsci_society.scenarios.calibration.hindcast import interval, score_error, trend, trend_values
from virsci_society.scenarios.calibration.windows import DISTANCES, MEASURED, ObservedWindow, Window


def test_a_trend_is_the_last_window_and_half_the_slope():
    values = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    assert trend(values, "identity").tolist() == [3.5, 5.0]
    # Doubled from window to window: half a step is a factor of the root of two.
    assert trend(np.array([[1.0], [2.0], [4.0]]), "log") == pytest.approx([4 * math.sqrt(2)])
    odds = np.array([[0.1], [0.2], [0.4]])
    shares = odds / (1 + odds)
    found = trend(shares, "logit")
    assert found / (1 - found) == pytest.approx([0.4 * math.sqrt(2)])


def test_fewer_than_three_windows_have_no_trend():
    assert np.isnan(trend(np.ones((2, 3)), "log")).all()
    assert np.isnan(trend(np.ones((0, 3)), "log")).all()


def test_the_trend_of_a_field_that_stays_as_it_is_repeats_it(read):
    corpus = read().corpus
    window = ObservedWindow.of(corpus, Window(2008, 2008))
    found = trend_values([window] * 4, window)
    observed = window.measures.numbers()
    for name in ("papers", "authors_per_paper", "q", "assortativity"):
        assert found[name] == pytest.approx(observed[name])
    # Shares of 0 and 1 are moved by a thousandth.
    assert max(found[name] for name in DISTANCES[:-1]) <= 0.0011
    assert math.isnan(found["m_patterns"])


def test_the_first_years_of_a_field_are_left_out(read):
    corpus = read().corpus
    assert corpus.first_year == 1995
    assert windows_before(corpus, Window(2000, 2001), 8) == []
    found = windows_before(corpus, Window(2004, 2005), 8)
    assert [one.name for one in found] == ["2000-2001", "2002-2003"]
    found = windows_before(corpus, Window(2004, 2005), 8, skipped=3)
    assert [one.name for one in found] == ["2002-2003"]


def test_the_error_of_a_score_is_that_of_its_mean_over_seeds():
    rng = np.random.default_rng(5)
    observed = dict.fromkeys(MEASURED, 1.0)
    runs = 1.2 + 0.1 * rng.normal(size=(200, 20, len(MEASURED)))
    errors = [score_error(one, observed) for one in runs]
    tolerances = [TOLERANCES[name].size for name in TOLERANCES]
    means = runs.mean(axis=1)[:, [MEASURED.index(name) for name in TOLERANCES]]
    off = np.minimum(np.abs(means - 1) / tolerances, 5)
    assert np.mean(errors) == pytest.approx(np.sqrt((off**2).mean(axis=1)).std(), rel=0.2)
    assert score_error(np.full((20, len(MEASURED)), 1.2), observed) == pytest.approx(0)


def test_an_interval_holds_what_differs_between_windows():
    drawn = np.random.default_rng(2).normal(1.0, 0.3, 20_000)
    alone, both = interval(drawn, 0.0), interval(drawn, 0.4)
    assert alone == pytest.approx((1 - 1.645 * 0.3, 1 + 1.645 * 0.3), abs=0.02)
    # The variances of two independent normal errors add up: 0.3, 0.4, 0.5.
    assert both == pytest.approx((1 - 1.645 * 0.5, 1 + 1.645 * 0.5), abs=0.02)
    assert interval(drawn, float("nan")) == alone
    assert interval(np.array([0.1, 0.2, 0.3]), 5.0)[0] == 0.0
