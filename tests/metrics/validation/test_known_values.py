"""Means, deviations and z over runs of which some are unknown."""

import math

import numpy as np
import pytest

from virsci_society.metrics.validation.tolerances import z_score

NAN = math.nan


def test_z_is_in_standard_errors_of_the_mean_and_of_the_observed():
    values = np.array([1.0, 3.0, 1.0, 3.0])
    variance = 0.5**2 + values.var(ddof=1) / 4
    assert z_score(values, 1.0, 0.5) == pytest.approx(1.0 / math.sqrt(variance))
    # Of one run only the error of the observed is known.
    assert z_score([2.0], 1.0, 0.5) == 2.0
    assert z_score([2.0, NAN], 1.0, 0.5) == 2.0


@pytest.mark.parametrize(("values", "error"), [([], 0.5), ([NAN], 0.5), ([2.0], 0.0), ([2.0], NAN)])
def test_z_is_unknown_where_nothing_is_known_of_the_errors(values, error):
    assert math.isnan(z_score(values, 1.0, error))
