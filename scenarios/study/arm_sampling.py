"""Arms sampled from a space of keys, for Latin hypercubes, Sobol indices and Morris effects.

All are drawn from the study's seed. The points lie in the unit cube first, so that an analysis of
a design needs no knowledge of its keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from virsci_society.agents.arrays import FloatArray
from virsci_society.scenarios.study.study_file import Bounds, Morris, Sampled, Sobol
from virsci_society.society.kernel.streams import Streams

if TYPE_CHECKING:
    import numpy as np

    Points = FloatArray


def sample_arms(sampled: Sampled, seed: int) -> list[dict[str, Any]]:
    """The settings of every arm, in the order of the design.

    Args:
        sampled: the design; its class says which.
        seed: of the study.
    """
    rows = unit_points(sampled, seed).tolist()
    over = sampled.over.items()
    return [
        {key: scale_to_bounds(at, bounds) for (key, bounds), at in zip(over, row, strict=True)}
        for row in rows
    ]


def unit_points(sampled: Sampled, seed: int) -> Points:
    """The points in the unit cube: an array of arms x keys.

    Args:
        sampled: the design; its class says which.
        seed: of the study.
    """
    key = Streams(seed, "study").key("arms")
    if isinstance(sampled, Morris):
        return _trajectories(sampled, key)
    if isinstance(sampled, Sobol):
        return _saltelli(sampled, key)
    from scipy.stats import qmc

    points: Points = qmc.LatinHypercube(d=len(sampled.over), seed=_rng(key)).random(sampled.samples)
    return points


def scale_to_bounds(at: float, bounds: Bounds) -> int | float:
    """The value of a key at a point in [0, 1]; whole bounds give whole numbers, equally often."""
    low, high = bounds
    if isinstance(low, int) and isinstance(high, int):
        return min(high, low + int(at * (high - low + 1)))
    return float(low + at * (high - low))


def _saltelli(sampled: Sobol, key: int) -> Points:
    """A, B, and for each key A with that column of B: (keys + 2) blocks of ``samples`` rows."""
    import numpy as np
    from scipy.stats import qmc

    count = len(sampled.over)
    both = qmc.Sobol(d=2 * count, seed=_rng(key)).random(sampled.samples)
    first, second = both[:, :count], both[:, count:]
    blocks = [first, second]
    for column in range(count):
        mixed = first.copy()
        mixed[:, column] = second[:, column]
        blocks.append(mixed)
    return np.concatenate(blocks)


def _trajectories(sampled: Morris, key: int) -> Points:
    """``samples`` walks of keys + 1 points; each step moves one key by half the levels."""
    import numpy as np

    rng, count, levels = _rng(key), len(sampled.over), sampled.levels
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
    import numpy as np

    return np.random.Generator(np.random.PCG64(key))
