"""Sensitivity indices of functions whose indices are known."""

import numpy as np
import pytest

from virsci_society.scenarios.study.sensitivity import morris, scale_to_bounds, sobol, unit_points
from virsci_society.scenarios.study.study_file import Morris, Sobol

KEYS = ["x", "y", "z"]
CUBE = dict.fromkeys(KEYS, (-np.pi, np.pi))


def ishigami(points):
    """sin x + 7 sin(y)^2 + 0.1 z^4 sin x (Ishigami and Homma 1990)."""
    x, y, z = points.T
    return np.sin(x) + 7 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x)


def at(sampled, seed=1):
    units = unit_points(sampled, seed)
    return units, np.array([[scale_to_bounds(one, CUBE["x"]) for one in row] for row in units])


def test_sobol_indices_of_ishigami_are_those_of_theory():
    # a = 7, b = 0.1: the variance is 13.8446, and by key:
    first, total = [0.3139, 0.4424, 0.0], [0.5576, 0.4424, 0.2437]
    _, points = at(Sobol(samples=2048, over=CUBE))
    table = sobol(ishigami(points), KEYS)
    assert table["key"].tolist() == KEYS
    assert table["first"].to_numpy() == pytest.approx(first, abs=0.03)
    assert table["total"].to_numpy() == pytest.approx(total, abs=0.03)


def test_sobol_indices_are_those_of_scipy():
    from scipy.stats import sobol_indices

    _, points = at(Sobol(samples=64, over=CUBE))
    values = ishigami(points)
    a, b, *mixed = values.reshape(5, 1, 64)
    parts = {"f_A": a, "f_B": b, "f_AB": np.array(mixed)}
    found = sobol_indices(func=parts, n=64)
    table = sobol(values, KEYS)
    assert table["first"].to_numpy() == pytest.approx(found.first_order.ravel())
    assert table["total"].to_numpy() == pytest.approx(found.total_order.ravel())


def test_a_single_key_has_all_the_variance():
    units = unit_points(Sobol(samples=256, over={"x": (0, 1)}), 1)
    table = sobol(units[:, 0], ["x"])
    assert table[["first", "total"]].to_numpy() == pytest.approx(np.ones((1, 2)), abs=0.02)


def test_indices_of_what_is_missing_or_never_varies_are_missing():
    values = np.ones(5 * 8)
    assert sobol(values, KEYS)[["first", "total"]].isna().all(axis=None)
    values[3] = np.nan
    assert sobol(values, KEYS)[["first", "total"]].isna().all(axis=None)


def test_elementary_effects_of_a_plane_are_its_slopes():
    units = unit_points(Morris(samples=6, over=CUBE), 1)
    table = morris(2 * units[:, 0] - 3 * units[:, 1], units, KEYS)
    assert table["mu"].to_numpy() == pytest.approx([2, -3, 0])
    assert table["mu_star"].to_numpy() == pytest.approx([2, 3, 0])
    assert table["sigma"].to_numpy() == pytest.approx([0, 0, 0], abs=1e-12)


def test_elementary_effects_by_hand():
    # Two keys, one walk: (0, 0) -> (2/3, 0) -> (2/3, 2/3), values 1 -> 3 -> 2.
    points = np.array([[0, 0], [2 / 3, 0], [2 / 3, 2 / 3]])
    table = morris(np.array([1.0, 3.0, 2.0]), points, ["a", "b"])
    assert table["mu"].tolist() == pytest.approx([3.0, -1.5])
    assert table["sigma"].isna().all()


def test_an_interaction_shows_in_sigma():
    units = unit_points(Morris(samples=20, over=CUBE), 2)
    table = morris(units[:, 0] * units[:, 1], units, KEYS)
    assert (table["sigma"][:2] > 0.1).all()
    assert table["sigma"][2] == 0.0
