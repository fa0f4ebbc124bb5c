"""Designs sampled from a space of keys, and the indices that Sobol and Morris designs are made for.

All points are drawn from the study's seed. They lie in the unit cube first, so that an analysis of
a design needs no knowledge of its keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray
from virsci_society.scenarios.study.study_file import Bounds, Morris, Sampled, Sobol
from virsci_society.society.kernel.streams import Streams


def sample_arms(sampled: Sampled, seed: int) -> list[dict[str, Any]]:
    """The settings of every arm, in the order of the design."""
    rows = unit_points(sampled, seed).tolist()
    over = sampled.over.items()
    return [
        {key: scale_to_bounds(at, bounds) for (key, bounds), at in zip(over, row, strict=True)}
        for row in rows
    ]


def unit_points(sampled: Sampled, seed: int) -> FloatArray:
    """The points in the unit cube: an array of arms x keys."""
    key = Streams(seed, "study").key("arms")
    if isinstance(sampled, Morris):
        return _trajectories(sampled, key)
    if isinstance(sampled, Sobol):
        return _saltelli(sampled, key)
    from scipy.stats import qmc

    points: FloatArray = qmc.LatinHypercube(d=len(sampled.over), seed=_rng(key)).random(
        sampled.samples
    )
    return points


def scale_to_bounds(at: float, bounds: Bounds) -> int | float:
    """The value of a key at a point in [0, 1]; whole bounds give whole numbers, equally often."""
    low, high = bounds
    if isinstance(low, int) and isinstance(high, int):
        # min: the point 1 itself belongs to the last whole number.
        return min(high, low + int(at * (high - low + 1)))
    return float(low + at * (high - low))


def _saltelli(sampled: Sobol, key: int) -> FloatArray:
    """A, B, and for each key A with that column of B: (keys + 2) blocks of ``samples`` rows."""
    from scipy.stats import qmc

    count = len(sampled.over)
    # One sequence for A and B: two of them would not fill the space together.
    both = qmc.Sobol(d=2 * count, seed=_rng(key)).random(sampled.samples)
    first, second = both[:, :count], both[:, count:]
    blocks = [first, second]
    for column in range(count):
        mixed = first.copy()
        mixed[:, column] = second[:, column]
        blocks.append(mixed)
    return np.concatenate(blocks)


def _trajectories(sampled: Morris, key: int) -> FloatArray:
    """``samples`` walks of keys + 1 points; each step moves one key by half the levels."""
    rng, count, levels = _rng(key), len(sampled.over), sampled.levels
    # Half of an even number of levels: so every level is met equally often (Morris 1991).
    stride = levels // 2
    rows = []
    for _ in range(sampled.samples):
        at = rng.integers(0, levels, count)
        rows.append(at.copy())
        for column in rng.permutation(count):
            at[column] += stride if at[column] < stride else -stride
            rows.append(at.copy())
    return np.array(rows, dtype=np.float64) / (levels - 1)


def _rng(key: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(key))


def sobol(values: FloatArray, keys: list[str]) -> pd.DataFrame:
    """Share of a measure's variance by key: ``first`` order, and ``total`` with interactions.

    First order as in Saltelli et al. 2010 (doi:10.1016/j.cpc.2009.09.018), total as in Jansen 1999.

    Args:
        values: of samples x (keys + 2) arms: all of A, all of B, then A with one column of B.
        keys: in the order of the design.

    Returns:
        One row per key: ``key``, ``first``, ``total``; shares of 1 up to their error.
    """
    blocks = np.asarray(values, dtype=np.float64).reshape(len(keys) + 2, -1)
    first = total = np.full(len(keys), np.nan)
    if np.isfinite(blocks).all() and np.ptp(blocks[:2]) > 0:
        # Less noisy around zero (Sobol' and Levitan 1999); scipy's function refuses a single key.
        blocks = blocks - blocks[:2].mean()
        a, b, mixed = blocks[0], blocks[1], blocks[2:]
        variance = blocks[:2].var()
        first = (b * (mixed - a)).mean(axis=1) / variance
        total = ((a - mixed) ** 2).mean(axis=1) / (2 * variance)
    return pd.DataFrame({"key": pd.array(keys, dtype="string"), "first": first, "total": total})


def morris(values: FloatArray, points: FloatArray, keys: list[str]) -> pd.DataFrame:
    """Elementary effects: change of a measure while one key crosses its whole range.

    ``mu`` is their mean (Morris 1991), ``mu_star`` that of their sizes (Campolongo et al. 2007),
    ``sigma`` their standard deviation: interactions, or a bent dependence.

    Args:
        values: of trajectories x (keys + 1) arms, walk after walk.
        points: the same arms in the unit cube.
        keys: its columns.

    Returns:
        One row per key: ``key``, ``mu``, ``mu_star``, ``sigma``, in units of the measure.
    """
    count = len(keys)
    walks = np.asarray(points, dtype=np.float64).reshape(-1, count + 1, count)
    told = np.asarray(values, dtype=np.float64).reshape(-1, count + 1)
    moves, changes = np.diff(walks, axis=1), np.diff(told, axis=1)
    moved = np.abs(moves).argmax(axis=2)
    effects = changes / np.take_along_axis(moves, moved[..., None], axis=2)[..., 0]
    by_key = [effects[moved == column] for column in range(count)]
    return pd.DataFrame(
        {
            "key": pd.array(keys, dtype="string"),
            "mu": [float(np.mean(one)) for one in by_key],
            "mu_star": [float(np.mean(np.abs(one))) for one in by_key],
            "sigma": [float(np.std(one, ddof=1)) if len(one) > 1 else np.nan for one in by_key],
        }
    )
