"""The hidden worth of ideas is the same for a seed, as smooth and as often 0 as is stated."""

import numpy as np
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.society.literature.landscape import Landscape, nearest_distance


def units(count, dim=20, seed=0):
    """Vectors of unit length in loose groups, as papers of several fields have them."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((10, dim))
    rows = centres[rng.integers(10, size=count)] + 0.4 * rng.standard_normal((count, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


PAST = units(1500)


def field(seed=1, past=PAST, **keys):
    return Landscape(**keys).field(past, np.random.default_rng(seed))


def test_worth_is_the_same_for_a_seed_and_another_for_another():
    one, again, other = field(), field(), field(seed=2)
    assert np.array_equal(one.worth(PAST), again.worth(PAST))
    assert abs(np.corrcoef(one.worth(PAST), other.worth(PAST))[0, 1]) < 0.3
    # One vector by itself has the worth that it has among many.
    assert one.worth(PAST[7:8])[0] == one.worth(PAST)[7]


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_so_much_of_the_ground_is_worthless_and_the_rest_is_ranked(share):
    worth = field(worthless=share).worth(PAST)
    assert (worth == 0.0).mean() == pytest.approx(share, abs=0.01)
    above = np.sort(worth[worth > 0])
    assert above == pytest.approx(np.linspace(0, 1, len(above)), abs=0.01)
    assert worth.max() == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("ruggedness", [0.1, 0.5, 0.9])
def test_worth_of_nearest_papers_correlates_by_what_ruggedness_leaves(ruggedness):
    near = nearest_distance(PAST.astype(np.float64))
    rng = np.random.default_rng(3)
    steps = rng.standard_normal(PAST.shape)
    beside = PAST + near * steps / np.linalg.norm(steps, axis=1, keepdims=True)
    products = []
    for seed in range(40):
        rugged = field(seed=seed, ruggedness=ruggedness)
        products.append(np.mean(rugged.heights(PAST) * rugged.heights(beside)))
    # Covariance and correlation are alike: the field has mean 0 and deviation 1 over the seeds.
    assert np.mean(products) == pytest.approx(1 - ruggedness, abs=0.08)


def test_around_a_peak_worth_is_higher():
    flat, peaked = field(worthless=0.0), field(worthless=0.0, peaks=5)
    peaks = peaked.peaks
    assert len(peaks) == 5
    raised = peaked.heights(peaks) - flat.heights(peaks)
    assert (raised >= 3.0 - 1e-9).all()
    assert peaked.worth(peaks).mean() > 0.9


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_standardised_worth_of_the_past_has_mean_0_and_deviation_1(share):
    found = field(worthless=share)
    standing = [found.standardised(worth) for worth in found.worth(PAST).tolist()]
    assert np.mean(standing) == pytest.approx(0.0, abs=0.01)
    assert np.std(standing) == pytest.approx(1.0, abs=0.01)


@pytest.mark.slow
def test_the_nearest_of_many_papers_is_looked_for_among_all_of_them():
    """Papers in the order of their fields: a part of them would not hold the nearest ones."""
    rows = PAST[np.argsort(PAST[:, 0])].astype(np.float64)
    apart = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert nearest_distance(rows) == pytest.approx(np.median(apart.min(axis=1)), rel=0.03)


@pytest.mark.parametrize("past", [PAST[:0], PAST[:1], np.zeros((9, 20)), np.repeat(PAST[:1], 9, 0)])
def test_a_landscape_needs_papers_that_differ(past):
    with pytest.raises(
        InputError, match="needs two distinct vectors of past papers, and the ecosystem has fewer"
    ):
        field(past=past)
