"""Coverage: how often each interval holds the truth, simulated, and what a page warns of.

``python benchmarks/coverage.py --write`` makes ``coverage.csv`` from ``simulated``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.random import Generator
from scipy import stats

from metrics.inference.intervals import bca_bounds
from metrics.inference.sample import NAN, Floats

Draw = Callable[[Generator, int, int], Floats]
REPLICATES = (5, 10, 20, 50)
POOR = 0.90
"""An interval known to cover less often than this is warned of."""
BLOCK = 1000
"""Samples looked at together."""


@dataclass(frozen=True)
class Family:
    """Data of one kind.

    Attributes:
        draw: (stream, samples, n) -> samples x n values.
        mean: the mean that t and BCa must hold.
        typical: the geometric mean that the log-scale interval must hold; NaN if there is none.
        meaning: the data in words.
    """

    draw: Draw
    mean: float
    typical: float
    meaning: str


def _lognormal(sigma: float) -> Family:
    def draw(rng: Generator, samples: int, n: int) -> Floats:
        return rng.lognormal(0.0, sigma, (samples, n))

    return Family(draw, float(np.exp(sigma**2 / 2)), 1.0, f"lognormal, sigma {sigma:g}")


FAMILIES: Mapping[str, Family] = {
    "normal": Family(lambda rng, samples, n: rng.normal(0, 1, (samples, n)), 0.0, NAN, "normal"),
    "student": Family(
        lambda rng, samples, n: rng.standard_t(3, (samples, n)),
        *(0.0, NAN, "heavy-tailed: Student t, 3 degrees of freedom"),
    ),
    "exponential": Family(
        lambda rng, samples, n: rng.exponential(1.0, (samples, n)),
        *(1.0, float(np.exp(-np.euler_gamma)), "exponential"),
    ),
    "lognormal-0.25": _lognormal(0.25),
    "lognormal-0.5": _lognormal(0.5),
    "lognormal-1": _lognormal(1.0),
    "lognormal-1.5": _lognormal(1.5),
}
LADDER = ("normal", "lognormal-0.25", "lognormal-0.5", "lognormal-1", "lognormal-1.5")
"""The families by which a page judges skewness, the least skewed first."""


@dataclass(frozen=True)
class Cell:
    """Simulated coverage of 95 % intervals for one kind of data and number of replicates.

    Attributes:
        family: a key of ``FAMILIES``.
        n: replicates in a sample.
        skewness: median over the samples of their skewness G1.
        t: share of the t intervals that hold the mean, 0..1.
        bca: share of the BCa intervals that hold the mean, 0..1.
        log: share of the log-scale intervals that hold the geometric mean; NaN if not positive.
    """

    family: str
    n: int
    skewness: float
    t: float
    bca: float
    log: float


def simulated(family: str, n: int, samples: int, resamples: int = 999, seed: int = 0) -> Cell:
    """Draw samples of one family and count how often each 95 % interval holds the truth.

    All samples of a block share the draws of their bootstrap, which makes it one matrix product
    and leaves the coverage of each as it is.
    """
    kind, place = FAMILIES[family], list(FAMILIES).index(family)
    rng = np.random.default_rng([seed, place, n])
    held = np.zeros(3)
    skewed = []
    for start in range(0, samples, BLOCK):
        values = kind.draw(rng, min(BLOCK, samples - start), n)
        skewed.append(_skewness(values))
        held[0] += _holding(_t_bounds(values), kind.mean)
        held[1] += _holding(_bca_bounds(values, rng, resamples), kind.mean)
        if np.isfinite(kind.typical):
            held[2] += _holding(_t_bounds(np.log(values)), float(np.log(kind.typical)))
    t, bca, log = held / samples
    middle = float(np.median(np.concatenate(skewed)))
    return Cell(family, n, middle, t, bca, log if np.isfinite(kind.typical) else NAN)


def _holding(bounds: Floats, truth: float) -> int:
    return int(((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])).sum())


def _t_bounds(values: Floats) -> Floats:
    n = values.shape[1]
    mean = values.mean(axis=1)
    half = stats.t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)
    return np.column_stack([mean - half, mean + half])


def _bca_bounds(values: Floats, rng: Generator, resamples: int) -> Floats:
    n = values.shape[1]
    weights = rng.multinomial(n, np.full(n, 1 / n), resamples) / n
    left_out = (values.sum(axis=1, keepdims=True) - values) / (n - 1)
    return bca_bounds(values @ weights.T, left_out, values.mean(axis=1))


def _skewness(values: Floats) -> Floats:
    n = values.shape[1]
    gaps = values - values.mean(axis=1, keepdims=True)
    moment = (gaps**3).mean(axis=1) / (gaps**2).mean(axis=1) ** 1.5
    return np.asarray(moment * np.sqrt(n * (n - 1)) / (n - 2), dtype=np.float64)


@cache
def known() -> tuple[Cell, ...]:
    """The coverages in ``coverage.csv``, as the benchmark printed them."""
    text = files("metrics.inference").joinpath("coverage.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return tuple(
        Cell(
            row["family"],
            int(row["n"]),
            *(float(row[name]) if row[name] else NAN for name in ("skewness", "t", "bca", "log")),
        )
        for row in rows
    )


def fitting(n: int, skewed: float) -> Cell:
    """The cell by which data of unknown kind are judged.

    Of the numbers of replicates in the table, the largest that is not above n (the smallest, for
    fewer). Among the families of ``LADDER`` with that number, the one whose samples typically
    look as skewed as these: samples of five hide most of their skewness, in the table as here.

    Args:
        n: replicates in an arm.
        skewed: typical sample skewness G1 of the arms, of either sign; NaN counts as none.
    """
    at = max((size for size in REPLICATES if size <= n), default=REPLICATES[0])
    looks = abs(skewed) if np.isfinite(skewed) else 0.0
    cells = [cell for cell in known() if cell.n == at and cell.family in LADDER]
    return min(cells, key=lambda cell: abs(cell.skewness - looks))
