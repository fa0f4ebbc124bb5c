"""Correlations (Pearson, Spearman, partial rank, within blocks) and agreement of raters.

Arms of a study share their seeds, and the arms of a grid differ in other keys too. Runs of one seed
are not independent, and runs that differ in another key differ for other reasons. So ``rank_trend``
compares runs within blocks only (one seed, one setting of the other keys), and its p comes from
permutations within blocks, which need no independence and no distribution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy
from scipy import special

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.intervals import NAN, Numbers, pairs_of, sample_of, t_interval


@dataclass(frozen=True)
class Correlation:
    """A correlation with its interval.

    Attributes:
        r: -1..1; NaN where one side does not vary.
        low: lower end; NaN below four observations.
    """

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
    """Pearson's correlation with Fisher's z interval.

    Args:
        x: one number per observation.
        y: one number per observation, in the same order.

    Returns:
        r in -1..1; NaN where one side does not vary; no bounds below four observations.

    Source:
        Fisher, R. A. (1921). On the "probable error" of a coefficient of correlation.
    """
    a, b = pairs_of(x, y)
    found = _correlation(_product_moment(a, b), len(a), 0, 1.0, level)
    return _named(found, "Pearson", FISHER)


def spearman(x: Numbers, y: Numbers, level: float = 0.95) -> Correlation:
    """Spearman's rank correlation; ties have their mean rank.

    The interval is Fisher's z with the variance of Bonett and Wright (2000),
    (1 + r^2 / 2) / (n - 3).

    Returns:
        r in -1..1; NaN where one side does not vary; no bounds below four observations.

    Source:
        Bonett, D. G. and Wright, T. A. (2000). Sample size requirements for estimating Pearson,
        Kendall and Spearman correlations. Psychometrika 65.
    """
    a, b = pairs_of(x, y)
    r = _product_moment(_ranks(a), _ranks(b))
    return _named(_correlation(r, len(a), 0, 1.0 + r**2 / 2, level), "Spearman", BONETT_WRIGHT)


def prcc(inputs: Mapping[str, Numbers], y: Numbers, level: float = 0.95) -> dict[str, Correlation]:
    """Partial rank correlation coefficient (PRCC) of each input with y, given the other inputs.

    All values are replaced by ranks; the part that the other inputs explain linearly is subtracted
    from both sides; the residuals are correlated. PRCC suits monotonic effects in a Latin
    hypercube. The degrees of freedom lose one for each other input.

    Args:
        inputs: name of the input -> one value per sample point.

    Returns:
        Name of the input -> its correlation, -1..1 or NaN.

    Source:
        Marino, S. et al. (2008). A methodology for performing global uncertainty and sensitivity
        analysis in systems biology. Journal of Theoretical Biology 254.
    """
    measured = _ranks(sample_of(y))
    ranked = {name: _ranks(sample_of(values)) for name, values in inputs.items()}
    for name, ranks in ranked.items():
        if len(ranks) != len(measured):
            raise InputError(f"{name} has {len(ranks)} values, the measure {len(measured)}")
    correlations = {}
    for name, own in ranked.items():
        others = [ranks for other, ranks in ranked.items() if other != name]
        residuals = _residuals(own, others), _residuals(measured, others)
        r = _product_moment(*residuals)
        found = _correlation(r, len(measured), len(others), 1.0 + r**2 / 2, level)
        correlations[name] = _named(found, "PRCC", BONETT_WRIGHT)
    return correlations


def _named(found: Correlation, test: str, method: str) -> Correlation:
    return replace(found, test=test, method=method if np.isfinite(found.low) else "")


def _correlation(r: float, n: int, given: int, spread: float, level: float) -> Correlation:
    """Interval and p of a correlation of n observations, ``given`` others held constant."""
    freedom = n - 2 - given
    if not np.isfinite(r) or freedom < 1:
        return Correlation(r, NAN, NAN, NAN, n)
    away = 1 - r * r
    t = r * np.sqrt(freedom / away) if away > 0 else np.inf
    p = float(2 * scipy.stats.t.sf(abs(t), freedom))
    if freedom < 2:
        return Correlation(r, NAN, NAN, p, n)
    half = float(special.ndtri(0.5 + level / 2)) * float(np.sqrt(spread / (freedom - 1)))
    with np.errstate(divide="ignore"):
        centre = np.arctanh(r)
    return Correlation(r, float(np.tanh(centre - half)), float(np.tanh(centre + half)), p, n)


def _product_moment(x: FloatArray, y: FloatArray) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return NAN
    a, b = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip(a @ b / scale, -1.0, 1.0)) if scale > 0 else NAN


def _ranks(values: FloatArray) -> FloatArray:
    return np.asarray(scipy.stats.rankdata(values), dtype=np.float64)


def _residuals(values: FloatArray, others: list[FloatArray]) -> FloatArray:
    """Residuals of the values regressed on the others; zero where the others explain everything."""
    design = np.column_stack([np.ones(len(values)), *others])
    left: FloatArray = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    # Rounding leaves 1e-13 where the others explain everything: that is no variation.
    explained = np.abs(left).max(initial=0.0) <= 1e-9 * max(len(values), 1)
    return np.zeros_like(left) if explained else left


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
    blocks: Sequence[Block], level: float = 0.95, permutations: int = PERMUTATIONS, seed: int = 0
) -> Correlation:
    """Mean of Spearman's rho over blocks, tested by permutations within blocks.

    A block counts in proportion to its runs less one. Blocks in which the measure, or the key, does
    not vary have no rho: they are left out, and the note counts them.

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
        return Correlation(NAN, NAN, NAN, NAN, 0, note, RANK_TREND)
    weights = np.array([len(block.x) - 1.0 for block in kept])
    weights /= weights.sum()
    rng, found, drawn = np.random.default_rng(seed), np.zeros(len(kept)), np.zeros(permutations)
    for number, (block, weight) in enumerate(zip(kept, weights, strict=True)):
        key, measured = _unit_ranks(block.x), _unit_ranks(block.y)
        found[number] = key @ measured
        # Ranks are shuffled, not values: the ranks of a shuffle are the shuffle of the ranks.
        shuffled = rng.permuted(np.tile(measured, (permutations, 1)), axis=1)
        drawn += weight * (shuffled @ key)
    rho = float(np.clip(found @ weights, -1.0, 1.0))
    # Sums in another order differ in the last bits, and equal must count as equal.
    as_far = int((np.abs(drawn) >= abs(rho) - 1e-9).sum())
    low, high, method = _bounds(kept, found, weights, level)
    n, p = sum(len(block.x) for block in kept), (as_far + 1) / (permutations + 1)
    return Correlation(rho, low, high, p, n, note, RANK_TREND, method)


def _unit_ranks(values: FloatArray) -> FloatArray:
    """Ranks, centred and of length 1, so that the product of two is Spearman's rho."""
    ranks = scipy.stats.rankdata(values) - (len(values) + 1) / 2
    return np.asarray(ranks / np.sqrt(ranks @ ranks), dtype=np.float64)


def _bounds(
    blocks: Sequence[Block], found: FloatArray, weights: FloatArray, level: float
) -> tuple[float, float, str]:
    """The interval over the units, or of the only block, and how it is computed."""
    if len(blocks) == 1:
        alone = spearman(blocks[0].x, blocks[0].y, level)
        return alone.low, alone.high, alone.method
    units = np.array([block.unit for block in blocks])
    means = [
        float(np.average(found[units == unit], weights=weights[units == unit]))
        for unit in np.unique(units)
    ]
    # Student's interval of equal values has no width, which promises too much.
    if np.ptp(means) == 0:
        return NAN, NAN, ""
    band = t_interval(means, level, (-1.0, 1.0))
    return band.low, band.high, band.method


def _constant(count: int, blocks: int) -> str:
    if not count:
        return ""
    if count == blocks:
        return "not estimable: in no block do the key and the measure vary"
    return f"left out: {count} of {blocks} blocks, in which the measure or the key does not vary"


Level = Literal["ordinal", "interval"]


def krippendorff_alpha(ratings: FloatArray, level: Level = "interval") -> float:
    """Krippendorff's alpha (Krippendorff 2011, *Computing Krippendorff's Alpha-Reliability*).

    One minus observed over expected disagreement, the mean difference within abstracts over that
    between any two ratings. ``interval`` takes squared differences; ``ordinal`` the squared number
    of ratings between two values, each of both by half.

    Args:
        ratings: raters x abstracts, NaN where a rater has not rated.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise InputError(f"ratings of shape {table.shape}: expected raters x abstracts")
    if level == "interval":
        return _interval_alpha(table)
    values, coincidences = _coincidences(table)
    totals = coincidences.sum(axis=1)
    n = totals.sum()
    if len(values) < 2 or n < 2:
        return float("nan")
    gaps = _gaps(values, totals)
    observed = float((coincidences * gaps).sum()) / n
    expected = float((np.outer(totals, totals) * gaps).sum()) / (n * (n - 1))
    return float(1.0 - observed / expected) if expected > 0 else float("nan")


def _interval_alpha(table: FloatArray) -> float:
    """The same of squared differences, whose sums need no table of values."""
    each = (~np.isnan(table)).sum(axis=0)
    table, each = table[:, each > 1], each[each > 1]
    n = int(each.sum())
    if n < 2:
        return float("nan")
    # From the mean, so that large numbers lose no digits.
    centred = table - np.nanmean(table)
    sums, squares = np.nansum(centred, axis=0), np.nansum(centred**2, axis=0)
    observed = float(((each * squares - sums**2) / (each - 1)).sum()) / n
    expected = float(n * squares.sum() - sums.sum() ** 2) / (n * (n - 1))
    # Rounding leaves a little where all ratings are equal.
    return 1.0 - observed / expected if np.ptp(table[~np.isnan(table)]) > 0 else float("nan")


def _coincidences(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The values that were given, and how often each two of them met in one abstract."""
    known = ~np.isnan(table)
    paired = known.sum(axis=0) > 1
    table, known = table[:, paired], known[:, paired]
    values = np.unique(table[known])
    counts = np.stack(
        [(table == value).sum(axis=0) for value in values] or [np.zeros(table.shape[1])], axis=1
    ).astype(np.float64)
    weights = 1.0 / np.maximum(known.sum(axis=0) - 1, 1)
    met = (counts * weights[:, None]).T @ counts
    np.fill_diagonal(met, met.diagonal() - (counts * weights[:, None]).sum(axis=0))
    return values, met


def _gaps(values: FloatArray, totals: FloatArray) -> FloatArray:
    """Squared ordinal differences between any two values."""
    # Midpoints of the ranks: ratings below a value, and half of those that have it.
    place = np.cumsum(totals) - totals / 2
    return np.asarray((place[:, None] - place[None, :]) ** 2)
