"""Points, windows and seeds of a design."""

import numpy as np
import pytest
from scipy import stats

from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import (
    CalibrationFile,
    LogitNormal,
    LogNormal,
    LogUniform,
    UniformPrior,
)
from virsci_society.scenarios.calibration.design import (
    Setting,
    Space,
    job_seed,
    jobs_of,
    sobol_points,
)


def space(**priors):
    return Space(CalibrationFile(calibrate="x", fit=("2001",), held_out=("2002",), priors=priors))


HERE = Setting("2001", -1.0, {keys.SEAT: 0.2, keys.SIZE: 4.0, keys.LEAD: 0.1})


def test_priors_at_their_medians_and_bounds():
    made = space(
        **{
            keys.SEAT: LogitNormal(sd=1),
            keys.SIZE: LogNormal(sd=0.5),
            keys.Q: UniformPrior(low=0.2, high=0.6),
            keys.SPREAD: LogUniform(low=1, high=16),
        }
    )
    middle = made.values(np.zeros(4), HERE)
    assert middle[keys.SEAT] == pytest.approx(0.2)
    assert middle[keys.SIZE] == pytest.approx(4.0)
    assert middle[keys.Q] == pytest.approx(0.4)
    assert middle[keys.SPREAD] == pytest.approx(4)
    assert middle[keys.LEAD] == 0.1
    high = made.values(np.full(4, 8.0), HERE)
    assert high[keys.Q] == pytest.approx(0.6)
    assert high[keys.SPREAD] == pytest.approx(16)
    # The excess over the smallest team is what is log-normal.
    one = made.values(
        np.array([1.0 if n == made.names.index(keys.SIZE) else 0 for n in range(4)]), HERE
    )
    assert one[keys.SIZE] == pytest.approx(1 + 3 * np.exp(0.5))


def test_a_prior_with_a_trend_drifts_with_time():
    made = space(**{keys.Q: LogitNormal(median=0.5, sd=1, trend=True)})
    assert made.names == (keys.Q, f"{keys.Q} (drift)")
    now = made.values(np.array([0.0, 1.0]), Setting("boundary", 0.0, {}))[keys.Q]
    then = made.values(np.array([0.0, 1.0]), Setting("early", -10.0, {}))[keys.Q]
    assert now == pytest.approx(0.5)
    assert then == pytest.approx(stats.logistic.cdf(-1.0))


def test_points_are_those_of_the_prior_and_of_their_seed():
    points = sobol_points(5, 256, 3)
    assert points.shape == (256, 5)
    assert points.mean(axis=0) == pytest.approx(np.zeros(5), abs=0.02)
    assert points.std(axis=0) == pytest.approx(np.ones(5), abs=0.03)
    assert (points == sobol_points(5, 256, 3)).all()
    assert (points != sobol_points(5, 256, 4)).any()
    assert (sobol_points(5, 100, 3) == sobol_points(5, 128, 3)[:100]).all()


def test_windows_of_a_point_share_their_seed_and_stages_do_not():
    made = space(**{keys.Q: UniformPrior(low=0, high=1)})
    jobs = jobs_of("first", np.zeros((2, 1)), made, [HERE, HERE], 7)
    assert [(one.point, one.window) for one in jobs] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert jobs[0].seed == jobs[1].seed != jobs[2].seed
    assert job_seed(7, "first", 0) != job_seed(7, "second", 0) != job_seed(8, "second", 0)
