"""Combining forecasters by their past errors: limits, weights, and what a distribution covers."""

import numpy as np
import pytest
import scipy

from virsci_society.scenarios.forecasting import combination
from virsci_society.scenarios.forecasting.combination import (
    combined,
    forecasters,
    predictions,
    shrunk_mean,
)


def windows(count, names=6, seed=1, noise=0.1, drift=0.0):
    rng = np.random.default_rng(seed)
    return drift * np.arange(count)[:, None] + noise * rng.standard_normal((count, names))


def test_a_bias_within_its_error_is_not_corrected():
    even = np.array([[0.2, 0.5], [-0.2, 0.5], [0.2, 0.5], [-0.2, 0.5]])
    assert shrunk_mean(even) == pytest.approx([0, 0.5])
    assert shrunk_mean(even[:1]) == pytest.approx([0, 0])
    some = np.array([[0.1], [0.3]])
    # Mean 0.2, standard error 0.1: a quarter of it is lost.
    assert shrunk_mean(some) == pytest.approx([0.15])


def test_a_constant_field_is_forecast_by_itself():
    observed = np.ones((7, 5))
    simulated = np.full((8, 5), 3.0)
    assert combined(observed, simulated, 5) == pytest.approx(np.ones(5), abs=0.01)


def test_a_simulation_that_was_right_has_most_of_the_weight():
    truth = windows(9, drift=1.0)
    found = combined(truth[:8], truth, 6)
    assert np.abs(found - truth[8]).max() < 0.1
    assert np.abs(truth[7] - truth[8]).min() > 0.5


def test_a_constant_bias_is_taken_off():
    truth = windows(9, drift=1.0)
    found = forecasters(truth[:8], truth + 2)
    assert found[0] == pytest.approx(truth[8] + 2)
    assert found[1] == pytest.approx(truth[8])
    assert found[2] == pytest.approx(truth[7])
    assert found[3] == pytest.approx(truth[6:8].mean(axis=0))


def test_nothing_of_the_window_itself_is_used():
    truth, simulated = windows(9), windows(9, seed=2)
    made = predictions(truth[:8], simulated, simulated, 6)
    assert set(made) == {"forecast", "society", "p, q", "persistence"}
    assert made["persistence"].centre == pytest.approx(truth[7])
    assert made["society"].centre == pytest.approx(simulated[8])


@pytest.mark.slow
def test_intervals_cover_what_they_say():
    """Fields without memory, which persistence forecasts with errors of a known law."""
    inside, many = 0, 400
    for seed in range(many):
        truth = windows(9, names=1, seed=seed, noise=1.0)
        made = predictions(truth[:8], truth[:, :1] * 0, truth * 0, 1)["persistence"]
        share = scipy.stats.t.cdf((truth[8] - made.centre) / made.spread, made.freedom)
        inside += bool(abs(share[0] - 0.5) <= 0.4)
    # Three standard errors of a share of 0.8 are 0.06.
    assert inside / many == pytest.approx(0.8, abs=0.06)


def test_late_errors_count_more_for_a_width_than_early_ones():
    unit, calm = np.ones(4), np.full((6, 4), 0.1)
    early, late = calm.copy(), calm.copy()
    early[0] = late[-1] = 1.0
    widths = [combination.predict(np.zeros(4), one, unit, 4).spread for one in (calm, early, late)]
    assert (widths[0] < widths[1]).all()
    assert (2 * widths[1] < widths[2]).all()


def test_an_unknown_quantity_leaves_the_others_known():
    truth, simulated = windows(9), windows(9, seed=2)
    truth[3, 2] = np.nan
    made = predictions(truth[:8], simulated, simulated, 6)["forecast"]
    assert np.isnan(made.centre[2]) or np.isnan(made.spread[2])
    rest = [0, 1, 3, 4, 5]
    assert np.isfinite(made.centre[rest]).all()
    assert np.isfinite(made.spread[rest]).all()


def test_quantiles_are_those_of_student():
    one = combination.Predictive(np.array([1.0]), np.array([2.0]), 5.0)
    (low, middle, high) = one.quantiles(np.array([0.05, 0.5, 0.95]))[0]
    assert middle == 1
    assert high - 1 == pytest.approx(2 * 2.015, rel=1e-3)
    assert 1 - low == pytest.approx(high - 1)
