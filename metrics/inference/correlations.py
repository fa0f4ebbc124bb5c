"""Correlations (Pearson, Spearman, within blocks of runs) and agreement of raters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.lazy_imports import scipy, special
from virsci_society.metrics.inference.intervals import NAN, Numbers, pairs_of, t_interval


@dataclass(frozen=True)
class Correlation:
    """A correlation with its interval."""

    r: float
    low: float
    high: float
    p: float
    n: int
    note: str = ""
    test: str = ""
    method: str = ""


FISHER = "Fisher's z"
BONETT_WRIGHT = "Fisher's z after Bonett and Wright 2000"
RANK_TREND = "rank correlation"
"""Name of the test of ``rank_trend``."""


def pearson(x: Numbers, y: Numbers, level: float = 0.95) -> Correlation:
    """Pearson's correlation with Fisher's z interval (Fisher 1921)."""
    a, b = pairs_of(x, y)
    return _correlation("Pearson", a, b, level)


def spearman(x: Numbers, y: Numbers, level: float = 0.95) -> Correlation:
    """Spearman's rank correlation with mean ranks for ties (interval: Bonett and Wright 2000)."""
    a, b = pairs_of(x, y)
    return _correlation("Spearman", scipy.stats.rankdata(a), scipy.stats.rankdata(b), level)


def _correlation(test: str, x: FloatArray, y: FloatArray, level: float) -> Correlation:
    """Correlation with its interval and p."""
    n, freedom = len(x), len(x) - 2
    if n < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(NAN, NAN, NAN, NAN, n, test=test)
    a, b = x - x.mean(), y - y.mean()
    r = float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1.0, 1.0))
    if freedom < 1:
        return Correlation(r, NAN, NAN, NAN, n, test=test)
    with np.errstate(divide="ignore"):
        t, centre = r * np.sqrt(freedom / np.float64(1 - r * r)), np.arctanh(r)
    p = float(2 * scipy.stats.t.sf(abs(t), freedom))
    if freedom < 2:
        return Correlation(r, NAN, NAN, p, n, test=test)
    spread, method = (1.0, FISHER) if test == "Pearson" else (1.0 + r**2 / 2, BONETT_WRIGHT)
    half = float(special.ndtri(0.5 + level / 2) * np.sqrt(spread / (freedom - 1)))
    low, high = float(np.tanh(centre - half)), float(np.tanh(centre + half))
    return Correlation(r, low, high, p, n, test=test, method=method)


PERMUTATIONS = 9_999


@dataclass(frozen=True)
class Block:
    """Comparable runs: key ``x``, measure ``y``; units (seeds) are independent of each other."""

    x: FloatArray
    y: FloatArray
    unit: int

    @property
    def varies(self) -> bool:
        """Whether both the key and the measure have more than one value."""
        return len(self.x) > 1 and bool(np.ptp(self.x) > 0 and np.ptp(self.y) > 0)


def rank_trend(
    blocks: Sequence[Block], level: float = 0.95, permutations: int = PERMUTATIONS, seed: int = 0
) -> Correlation:
    """Mean of Spearman's rho over blocks, tested by permutations within blocks."""
    kept = [block for block in blocks if block.varies]
    note, gone = "", len(blocks) - len(kept)
    if not kept:
        note = "not estimable: in no block do the key and the measure vary" if gone else ""
        return Correlation(NAN, NAN, NAN, NAN, 0, note, RANK_TREND)
    if gone:
        varying = "in which the measure or the key does not vary"
        note = f"left out: {gone} of {len(blocks)} blocks, {varying}"
    weights = np.array([len(block.x) - 1.0 for block in kept])
    weights /= weights.sum()
    rng, found, drawn = np.random.default_rng(seed), np.zeros(len(kept)), np.zeros(permutations)
    for number, (block, weight) in enumerate(zip(kept, weights, strict=True)):
        # Ranks, centred and of length 1, so that the product of two is Spearman's rho.
        ranks = [scipy.stats.rankdata(side) - (len(side) + 1) / 2 for side in (block.x, block.y)]
        key, measured = (side / np.sqrt(side @ side) for side in ranks)
        found[number] = key @ measured
        # Ranks are shuffled, not values: the ranks of a shuffle are the shuffle of the ranks.
        shuffled = rng.permuted(np.tile(measured, (permutations, 1)), axis=1)
        drawn += weight * (shuffled @ key)
    rho = float(np.clip(found @ weights, -1.0, 1.0))
    # Sums in another order differ in the last bits, and equal must count as equal.
    as_far = int((np.abs(drawn) >= abs(rho) - 1e-9).sum())
    n, p = sum(len(block.x) for block in kept), (as_far + 1) / (permutations + 1)
    if len(kept) == 1:
        alone = spearman(kept[0].x, kept[0].y, level)
        return Correlation(rho, alone.low, alone.high, p, n, note, RANK_TREND, alone.method)
    units = np.array([block.unit for block in kept])
    means = [
        float(np.average(found[units == unit], weights=weights[units == unit]))
        for unit in np.unique(units)
    ]
    # Student's interval of equal values has no width, which promises too much.
    if np.ptp(means) == 0:
        return Correlation(rho, NAN, NAN, p, n, note, RANK_TREND)
    band = t_interval(means, level, (-1.0, 1.0))
    return Correlation(rho, band.low, band.high, p, n, note, RANK_TREND, band.method)


def krippendorff_alpha(ratings: FloatArray) -> float:
    """Krippendorff's alpha (2011) of interval numbers, raters x abstracts; NaN: not rated."""
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise InputError(f"ratings of shape {table.shape}: expected raters x abstracts")
    each = (~np.isnan(table)).sum(axis=0)
    table, each = table[:, each > 1], each[each > 1]
    n = int(each.sum())
    # Rounding would leave a little disagreement where all ratings are equal.
    if n < 2 or np.ptp(table[~np.isnan(table)]) == 0:
        return NAN
    # From the mean, so that large numbers lose no digits.
    centred = table - np.nanmean(table)
    sums, squares = np.nansum(centred, axis=0), np.nansum(centred**2, axis=0)
    observed = float(((each * squares - sums**2) / (each - 1)).sum()) / n
    expected = float(n * squares.sum() - sums.sum() ** 2) / (n * (n - 1))
    return 1.0 - observed / expected
