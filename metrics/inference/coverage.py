"""How often each interval contains the true mean, by simulation.

The page of a study warns by these numbers. ``python benchmarks/coverage.py --write`` simulates them
and makes ``coverage.csv``.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from virsci_society.metrics.inference.intervals import NAN

REPLICATES = (5, 10, 20, 50)
POOR_COVERAGE = 0.90
"""An interval known to cover less often than this is warned of."""


MEANINGS = {
    "normal": "normal",
    "student": "heavy-tailed: Student t, 3 degrees of freedom",
    "exponential": "exponential",
    **{f"lognormal-{sigma:g}": f"lognormal, sigma {sigma:g}" for sigma in (0.25, 0.5, 1.0, 1.5)},
}
"""The distributions of which samples were simulated, in words."""
SKEWNESS_LADDER = ("normal", "lognormal-0.25", "lognormal-0.5", "lognormal-1", "lognormal-1.5")
"""The families by which a page judges skewness, the least skewed first."""


@dataclass(frozen=True)
class CoverageCell:
    """Simulated coverage of 95 % intervals for one kind of data and number of replicates.

    Attributes:
        family: a key of ``MEANINGS``.
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
