"""Points and seeds, and posteriors of a model whose posterior is known."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from virsci_society.scenarios.calibration.calibrate import Outcome, weighted_quantile
from virsci_society.scenarios.calibration.fitting import (
    IDENTIFIED,
    PENALTIES,
    Estimation,
    Fit,
    MomentScale,
    PosteriorSample,
    between_windows,
    job_seed,
    sobol_points,
)

NOISE = 0.5
WINDOWS = 3


def simulate(points, rng):
    """Moments a + b and a - b with noise in three windows; the third parameter moves nothing."""
    moments = np.stack([points[:, 0] + points[:, 1], points[:, 0] - points[:, 1]], axis=1)
    return moments[:, None, :] + NOISE * rng.normal(size=(len(points), WINDOWS, 2))


@pytest.fixture(scope="module")
def estimation():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 3))
    seeds = simulate(np.zeros((60, 3)), rng)
    scale = MomentScale.of(seeds, np.zeros(2))
    return Estimation(points, simulate(points, rng), scale)


def test_what_moves_the_moments_is_recovered_and_nothing_else(estimation):
    assert (estimation.recovered[:2] > 0.8).all()
    assert estimation.recovered[2] < IDENTIFIED


def test_the_leave_one_out_error_is_that_of_scikit_learn(estimation):
    linear = pytest.importorskip("sklearn.linear_model")
    rows = estimation.scale.summaries(estimation.moments)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    design = np.concatenate([rows, rows**2], axis=1)
    for recovered, points in zip(estimation.recovered, estimation.points.T, strict=True):
        theirs = linear.RidgeCV(alphas=PENALTIES).fit(design, points)
        assert recovered == pytest.approx(1 + theirs.best_score_ / points.var(), abs=1e-9)


def test_the_posterior_is_that_of_bayes(estimation):
    observed = np.tile([1.0, 0.4], (WINDOWS, 1))
    found = estimation.posterior(observed)
    assert found.identified.tolist() == [True, True, False]
    assert found.centre[2] == 0
    # Normal prior and likelihood: precision 1 + 2 windows / noise^2 for both sums.
    precision = 1 + 2 * WINDOWS / NOISE**2
    mean = np.array([1.4, 0.6]) * WINDOWS / NOISE**2 / precision
    assert found.centre[:2] == pytest.approx(mean, abs=0.12)
    low, high = (weighted_quantile(found.draws[:, 0], found.weights, p) for p in (0.05, 0.95))
    assert high - low == pytest.approx(2 * 1.645 / np.sqrt(precision), rel=0.5)
    assert found.weights.sum() == pytest.approx(1)


def test_ranks_of_known_truths_are_about_uniform(estimation):
    rng = np.random.default_rng(9)
    truths = rng.normal(size=(120, 3))
    ranks = []
    for truth, moments in zip(truths, simulate(truths, rng), strict=True):
        found = estimation.posterior(moments)
        ranks.append(found.weights @ (found.draws < truth))
    for column in np.array(ranks)[:, :2].T:
        assert stats.kstest(np.clip(column, 0, 1), "uniform").pvalue > 0.005
        assert 0.75 <= (np.abs(column - 0.5) <= 0.45).mean() <= 1


def test_distances_of_a_right_model_are_about_one():
    rng = np.random.default_rng(3)
    scale = MomentScale.of(rng.normal(size=(400, 4, 5)), np.zeros(5))
    distances = scale.distances(rng.normal(size=(400, 4, 5)), np.zeros((4, 5)))
    assert distances.mean() == pytest.approx(1, abs=0.1)
    assert scale.summaries(rng.normal(size=(7, 4, 5))).shape == (7, 5)


def test_a_discrepancy_makes_distances_smaller():
    rng = np.random.default_rng(3)
    seeds = rng.normal(size=(50, 2, 3))
    moments = seeds + 4
    plain = MomentScale.of(seeds, np.zeros(3))
    wide = MomentScale.of(seeds, np.full(3, 9.0))
    target = np.zeros((2, 3))
    assert wide.distances(moments, target).mean() < plain.distances(moments, target).mean() / 2


def test_the_variance_between_windows_is_free_of_a_trend():
    steady = np.arange(6.0)[:, None] * 0.1
    assert between_windows(steady) == pytest.approx([0.005])
    assert between_windows(np.array([[0.0], [2.0], [0.0]])) == pytest.approx([2.0])
    assert between_windows(np.zeros((1, 2))).tolist() == [0, 0]


def test_weighted_quantiles():
    values = stats.norm.rvs(size=2001, random_state=1)
    assert weighted_quantile(values, np.ones(2001), 0.5) == pytest.approx(np.median(values))
    assert weighted_quantile(np.array([1.0, 5.0]), np.array([1.0, 1e9]), 0.5) == pytest.approx(5)


def test_points_are_those_of_the_prior_and_of_their_seed():
    points = sobol_points(5, 256, 3)
    assert points.shape == (256, 5)
    assert points.mean(axis=0) == pytest.approx(np.zeros(5), abs=0.02)
    assert points.std(axis=0) == pytest.approx(np.ones(5), abs=0.03)
    assert (points == sobol_points(5, 256, 3)).all()
    assert (points != sobol_points(5, 256, 4)).any()
    assert (sobol_points(5, 100, 3) == sobol_points(5, 128, 3)[:100]).all()


def test_targets_that_no_point_reaches_are_noted(read, tmp_path):
    fit = Fit(read(), tmp_path)
    vars(fit)["posterior"] = PosteriorSample(np.zeros((1, 2)), np.ones(1), np.ones(2), False)
    simulated = np.array([[[0.1, 0.2, 0.3]], [[0.5, 0.6, 0.7]], [[np.nan] * 3]])
    for observed, named in (([0.1, 0.4, 0.7], 0), ([0.05, 0.61, 0.5], 1)):
        vars(fit).update(simulated=simulated, observed=np.array([observed]))
        notes = Outcome(fit, {}, *[pd.DataFrame()] * 3, "opened once").notes
        assert sum("reaches the observed newcomer_rate, q:" in note for note in notes) == named
        assert len(notes) == len(fit.calibration.notes) + 1 + named


def test_targets_outside_the_points_jointly_are_extrapolated_and_clipped_draws_noted(
    estimation, read, tmp_path
):
    # Where the second parameter hardly varies, sum and difference are nearly the same.
    points = estimation.points * [1, 0.05, 1]
    moments = simulate(points, np.random.default_rng(6))
    narrow = Estimation(points, moments, estimation.scale)
    for observed, beyond in (([2.0, 2.0], False), ([2.0, -2.0], True)):
        assert (np.abs(observed) < np.abs(moments.mean(axis=1)).max(axis=0)).all()
        assert narrow.posterior(np.tile(observed, (WINDOWS, 1))).extrapolated == beyond
    far = estimation.posterior(np.tile([9.0, 0.0], (WINDOWS, 1)))
    assert far.at_limit.tolist() == [True, True, False]
    fit = Fit(read(), tmp_path)
    clipped = PosteriorSample(np.array([[3.0, 0.1]]), np.ones(1), np.ones(2), True)
    vars(fit).update(simulated=np.zeros((2, 1, 3)), observed=np.zeros((1, 3)), posterior=clipped)
    notes = Outcome(fit, {}, *[pd.DataFrame()] * 3, "opened once").notes
    assert "reaches the observed targets jointly" in notes[-2]
    assert "protocol.newcomers.seat lies at the limit of the prior" in notes[-1]


def test_windows_of_a_point_share_their_seed_and_stages_do_not(read, tmp_path):
    fit = Fit(read(), tmp_path)
    jobs = fit.jobs("points", np.zeros((2, 2)), [{}, {}])
    assert [(one.point, one.window) for one in jobs] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert jobs[0].seed == jobs[1].seed != jobs[2].seed
    assert job_seed(7, "points", 0) != job_seed(7, "check", 0)
    assert job_seed(7, "points", 0) != job_seed(8, "points", 0)
