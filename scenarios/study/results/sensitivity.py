"""Sensitivity indices of Sobol and Morris, from designs that were sampled for them.

Both take the values of a measure in the order of the design's arms, each the mean over its
replicates. A missing value makes an index NaN, never zero.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray


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
