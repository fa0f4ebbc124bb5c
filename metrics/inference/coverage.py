"""How often each interval contains the true mean, by simulation.

The page of a study warns by these numbers. ``python benchmarks/coverage.py --write`` makes
``coverage.csv`` from ``simulate_coverage``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import scipy
from numpy.random import Generator

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.inference.intervals import NAN, bca_bounds

Draw = Callable[[Generator, int, int], FloatArray]
REPLICATES = (5, 10, 20, 50)
POOR_COVERAGE = 0.90
"""An interval known to cover less often than this is warned of."""
BLOCK = 1000
"""Samples looked at together."""


@dataclass(frozen=True)
class DataFamily:
    """A distribution of which samples are simulated.

    Attributes:
        draw: (random stream, samples, n) -> samples x n values.
        mean: the mean that intervals by t and BCa must contain.
        geometric_mean: what the log-scale interval must contain; NaN where values are not positive.
        meaning: the distribution in words.
    """

    draw: Draw
    mean: float
    geometric_mean: float
    meaning: str


def _lognormal(sigma: float) -> DataFamily:
    def draw(rng: Generator, samples: int, n: int) -> FloatArray:
        return rng.lognormal(0.0, sigma, (samples, n))

    return DataFamily(draw, float(np.exp(sigma**2 / 2)), 1.0, f"lognormal, sigma {sigma:g}")


FAMILIES: Mapping[str, DataFamily] = {
    "normal": DataFamily(
        lambda rng, samples, n: rng.normal(0, 1, (samples, n)), 0.0, NAN, "normal"
    ),
    "student": DataFamily(
        lambda rng, samples, n: rng.standard_t(3, (samples, n)),
        *(0.0, NAN, "heavy-tailed: Student t, 3 degrees of freedom"),
    ),
    "exponential": DataFamily(
        lambda rng, samples, n: rng.exponential(1.0, (samples, n)),
        *(1.0, float(np.exp(-np.euler_gamma)), "exponential"),
    ),
    "lognormal-0.25": _lognormal(0.25),
    "lognormal-0.5": _lognormal(0.5),
    "lognormal-1": _lognormal(1.0),
    "lognormal-1.5": _lognormal(1.5),
}
SKEWNESS_LADDER = ("normal", "lognormal-0.25", "lognormal-0.5", "lognormal-1", "lognormal-1.5")
"""The families by which a page judges skewness, the least skewed first."""


@dataclass(frozen=True)
class CoverageCell:
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


def simulate_coverage(
    family: str, n: int, samples: int, resamples: int = 999, seed: int = 0
) -> CoverageCell:
    """Draw samples of one family and count how often each 95 % interval contains the true mean.

    All samples of a block share the draws of their bootstrap, which saves time and leaves the
    coverage of each as it is.

    Args:
        family: a key of ``FAMILIES``.
        n: replicates in a sample, >= 3.
        samples: number of samples, > 0.
        resamples: bootstrap samples of each, > 0.
        seed: of all draws.
    """
    kind, index = FAMILIES[family], list(FAMILIES).index(family)
    rng = np.random.default_rng([seed, index, n])
    covered = np.zeros(3)
    skewness = []
    for start in range(0, samples, BLOCK):
        values = kind.draw(rng, min(BLOCK, samples - start), n)
        skewness.append(scipy.stats.skew(values, axis=1, bias=False))
        covered[0] += _covering(_t_bounds(values), kind.mean)
        covered[1] += _covering(bca_bounds(values, None, 0.95, resamples, rng), kind.mean)
        if np.isfinite(kind.geometric_mean):
            covered[2] += _covering(_t_bounds(np.log(values)), float(np.log(kind.geometric_mean)))
    t, bca, log = covered / samples
    middle = float(np.median(np.concatenate(skewness)))
    return CoverageCell(family, n, middle, t, bca, log if np.isfinite(kind.geometric_mean) else NAN)


def _covering(bounds: FloatArray, truth: float) -> int:
    return int(((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])).sum())


def _t_bounds(values: FloatArray) -> FloatArray:
    n = values.shape[1]
    mean = values.mean(axis=1)
    half = scipy.stats.t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)
    return np.column_stack([mean - half, mean + half])


@cache
def known_coverage() -> tuple[CoverageCell, ...]:
    """The simulated coverages that are kept in ``coverage.csv``."""
    text = (
        files("virsci_society.metrics.inference")
        .joinpath("coverage.csv")
        .read_text(encoding="utf-8")
    )
    rows = csv.DictReader(text.splitlines())
    return tuple(
        CoverageCell(
            row["family"],
            int(row["n"]),
            *(float(row[name]) if row[name] else NAN for name in ("skewness", "t", "bca", "log")),
        )
        for row in rows
    )


def matching_case(n: int, skewed: float) -> CoverageCell:
    """The simulated case by which data of an unknown distribution are judged.

    Its number of replicates is the largest in the table that is not above n (the smallest, for
    fewer). Of the families of ``SKEWNESS_LADDER`` with that number, it is the one whose samples
    typically look as skewed as these: samples of five hide most of their skewness, in the table
    as here.

    Args:
        n: replicates in an arm.
        skewed: typical sample skewness G1 of the arms, of either sign; NaN counts as none.
    """
    at = max((size for size in REPLICATES if size <= n), default=REPLICATES[0])
    looks = abs(skewed) if np.isfinite(skewed) else 0.0
    cells = [cell for cell in known_coverage() if cell.n == at and cell.family in SKEWNESS_LADDER]
    return min(cells, key=lambda cell: abs(cell.skewness - looks))
