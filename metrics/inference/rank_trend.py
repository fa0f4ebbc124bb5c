"""Rank correlation of a varied key with a measure, within blocks of runs that are alike otherwise.

Arms of a study share their seeds, and the arms of a grid differ in other keys too. Runs of one seed
are not independent, and runs that differ in another key differ for other reasons. So runs are
compared within blocks only (one seed, one setting of the other keys), and the p comes from
permutations within blocks, which need no independence and no distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.inference.correlations import Correlation, spearman
from virsci_society.metrics.inference.intervals import t_interval
from virsci_society.metrics.inference.sample import NAN

PERMUTATIONS = 9_999


@dataclass(frozen=True)
class Block:
    """Runs that may be compared with one another.

    Attributes:
        x: the varied key, one value per run.
        y: the measure, one value per run.
        unit: what is independent of other units: the seed, or the block's own number.
    """

    x: FloatArray
    y: FloatArray
    unit: int

    @property
    def varies(self) -> bool:
        """Whether both the key and the measure have more than one value."""
        return len(self.x) > 1 and bool(np.ptp(self.x) > 0 and np.ptp(self.y) > 0)


def rank_trend(
    blocks: Sequence[Block],
    level: float = 0.95,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Correlation:
    """Mean of Spearman's rho over blocks, tested by permutations within blocks.

    A block counts in proportion to its runs less one. Blocks in which the measure, or the key, does
    not vary have no rho: they are left out, and the note counts them.

    Args:
        blocks: runs that may be compared.
        level: coverage of the interval, in (0, 1).
        permutations: random ones, seeded, beside the order found (Phipson and Smyth 2010).
        seed: of the permutations.

    Returns:
        rho, -1..1; p, two-sided; n: runs of the blocks that count. The interval is Student's over
        the units (seeds), of the mean rho of each, and ends at -1 and 1; with one unit, as in a
        study whose runs have seeds of their own, it is that of Spearman's rho where there is one
        block, and missing otherwise, as it is where all units have one rho. All are NaN where no
        block varies.

    Source:
        Phipson, B. and Smyth, G. K. (2010). Permutation p-values should never be zero. Statistical
        Applications in Genetics and Molecular Biology 9.
    """
    kept = [block for block in blocks if block.varies]
    note = _constant(len(blocks) - len(kept), len(blocks))
    if not kept:
        return Correlation(NAN, NAN, NAN, NAN, 0, note)
    weights = np.array([len(block.x) - 1.0 for block in kept])
    weights /= weights.sum()
    rng, found, drawn = np.random.default_rng(seed), np.zeros(len(kept)), np.zeros(permutations)
    for number, (block, weight) in enumerate(zip(kept, weights, strict=True)):
        key, measured = _unit_ranks(block.x), _unit_ranks(block.y)
        found[number] = key @ measured
        shuffled = rng.permuted(np.tile(measured, (permutations, 1)), axis=1)
        drawn += weight * (shuffled @ key)
    rho = float(np.clip(found @ weights, -1.0, 1.0))
    as_far = int((np.abs(drawn) >= abs(rho) - 1e-9).sum())
    low, high = _bounds(kept, found, weights, level)
    n = sum(len(block.x) for block in kept)
    return Correlation(rho, low, high, (as_far + 1) / (permutations + 1), n, note)


def _unit_ranks(values: FloatArray) -> FloatArray:
    """Ranks, centred and of length 1, so that the product of two is Spearman's rho."""
    ranks = scipy.stats.rankdata(values) - (len(values) + 1) / 2
    return np.asarray(ranks / np.sqrt(ranks @ ranks), dtype=np.float64)


def _bounds(
    blocks: Sequence[Block], found: FloatArray, weights: FloatArray, level: float
) -> tuple[float, float]:
    """The interval over the units, or of the only block."""
    if len(blocks) == 1:
        alone = spearman(blocks[0].x, blocks[0].y, level)
        return alone.low, alone.high
    units = np.array([block.unit for block in blocks])
    means = [
        float(np.average(found[units == unit], weights=weights[units == unit]))
        for unit in np.unique(units)
    ]
    if np.ptp(means) == 0:
        return NAN, NAN
    band = t_interval(means, level, (-1.0, 1.0))
    return band.low, band.high


def _constant(count: int, blocks: int) -> str:
    if not count:
        return ""
    if count == blocks:
        return "not estimable: in no block do the key and the measure vary"
    return f"left out: {count} of {blocks} blocks, in which the measure or the key does not vary"
