"""How often 95 % intervals hold the truth: t, BCa and log-scale, by data and replicates.

Printed is the share of simulated samples whose interval holds the true mean (for the log-scale
interval: the true geometric mean), for normal, heavy-tailed and ever more skewed data, and beside
it the median skewness of the samples. ``--write`` keeps the table as
``metrics/inference/coverage.csv``, by which the page of a study warns. Mark: t on normal data
holds in 94 to 96 %.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import scipy  # noqa: E402
from numpy.random import Generator  # noqa: E402

from virsci_society.agents.arrays import FloatArray  # noqa: E402
from virsci_society.metrics.inference.intervals import NAN, POOR_COVERAGE, REPLICATES, bca_bounds  # noqa: E402

KEPT = ROOT / "metrics" / "inference" / "coverage.csv"
MARK = (0.94, 0.96)
Draw = Callable[[Generator, int, int], FloatArray]
BLOCK = 1000
"""Samples looked at together."""


MEANINGS = {
    "normal": "normal",
    "student": "heavy-tailed: Student t, 3 degrees of freedom",
    "exponential": "exponential",
    **{f"lognormal-{sigma:g}": f"lognormal, sigma {sigma:g}" for sigma in (0.25, 0.5, 1.0, 1.5)},
}
"""The distributions of which samples are simulated, in words."""


@dataclass(frozen=True)
class CoverageCell:
    """Simulated coverage of 95 % intervals for one kind of data and number of replicates.

    ``log`` is the share of log-scale intervals that hold the geometric mean; NaN where values are
    not positive.
    """

    family: str
    n: int
    skewness: float
    t: float
    bca: float
    log: float


@dataclass(frozen=True)
class DataFamily:
    """A distribution of which samples are simulated.

    Attributes:
        draw: (random stream, samples, n) -> samples x n values.
        mean: the mean that intervals by t and BCa must contain.
        geometric_mean: what the log-scale interval must contain; NaN where values are not positive.
    """

    draw: Draw
    mean: float
    geometric_mean: float


def _lognormal(sigma: float) -> DataFamily:
    def draw(rng: Generator, samples: int, n: int) -> FloatArray:
        return rng.lognormal(0.0, sigma, (samples, n))

    return DataFamily(draw, float(np.exp(sigma**2 / 2)), 1.0)


FAMILIES: Mapping[str, DataFamily] = {
    "normal": DataFamily(lambda rng, samples, n: rng.normal(0, 1, (samples, n)), 0.0, NAN),
    "student": DataFamily(lambda rng, samples, n: rng.standard_t(3, (samples, n)), 0.0, NAN),
    "exponential": DataFamily(
        lambda rng, samples, n: rng.exponential(1.0, (samples, n)),
        1.0,
        float(np.exp(-np.euler_gamma)),
    ),
    "lognormal-0.25": _lognormal(0.25),
    "lognormal-0.5": _lognormal(0.5),
    "lognormal-1": _lognormal(1.0),
    "lognormal-1.5": _lognormal(1.5),
}


def main() -> int:
    """Simulate, print, keep if asked; 0 if t on normal data is within its mark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="10,000 samples a cell")
    parser.add_argument("--samples", type=int, help="simulated samples a cell (500)")
    parser.add_argument("--resamples", type=int, default=999, help="of each bootstrap")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"keep the table as {KEPT.name}")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    args.samples = args.samples or (10_000 if args.full or args.write else 500)
    print(f"{'data':<47}{'n':>4}{'skewness':>10}{'t':>9}{'BCa':>9}{'log':>9}")
    cells = []
    for family in FAMILIES:
        for n in REPLICATES:
            cells.append(simulate_coverage(family, n, args.samples, args.resamples, args.seed))
            print(row(cells[-1]), flush=True)
    error = 196 * math.sqrt(0.05 * 0.95 / args.samples)
    print(f"{args.samples} samples a cell: an error of {error:.1f} points at 95 %")
    print(f"! below {POOR_COVERAGE:.0%}, of which the page of a study warns")
    if args.write:
        keep(cells)
    args.json.write_text(json.dumps([asdict(cell) for cell in cells], indent=1) + "\n")
    fine = all(MARK[0] <= cell.t <= MARK[1] for cell in cells if cell.family == "normal")
    print(f"t on normal data within 94 to 96 %: {'yes' if fine else 'no'}")
    return int(not fine)


def simulate_coverage(
    family: str, n: int, samples: int, resamples: int = 999, seed: int = 0
) -> CoverageCell:
    """Draw samples of n values and count how often each 95 % interval contains the true mean.

    All samples of a block share the draws of their bootstrap, which saves time and leaves the
    coverage of each as it is.
    """
    kind, index = FAMILIES[family], list(FAMILIES).index(family)
    rng = np.random.default_rng([seed, index, n])
    covered = np.zeros(3)
    skewness = []
    for start in range(0, samples, BLOCK):
        values = kind.draw(rng, min(BLOCK, samples - start), n)
        skewness.append(scipy.stats.skew(values, axis=1, bias=False))
        covered[0] += _covering(_t_bounds(values), kind.mean)
        covered[1] += _covering(bca_bounds(values, 0.95, resamples, rng), kind.mean)
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


def row(cell: CoverageCell) -> str:
    """One line of the printed table."""
    shares = "".join(f"{share(value):>9}" for value in (cell.t, cell.bca, cell.log))
    return f"{MEANINGS[cell.family]:<47}{cell.n:>4}{cell.skewness:>10.2f}{shares}"


def share(value: float) -> str:
    """A coverage in per cent, marked where it is poor; a dash where there is none."""
    if math.isnan(value):
        return "–"
    return f"{100 * value:.1f}{'!' if value < POOR_COVERAGE else ' '}"


def keep(cells: list[CoverageCell]) -> None:
    """Write the table as CSV."""
    with KEPT.open("w", encoding="utf-8", newline="") as target:
        lines = csv.writer(target, lineterminator="\n")
        lines.writerow(["family", "n", "skewness", "t", "bca", "log"])
        for cell in cells:
            shares = [
                "" if math.isnan(value) else f"{value:.4f}"
                for value in (cell.skewness, cell.t, cell.bca, cell.log)
            ]
            lines.writerow([cell.family, cell.n, *shares])


if __name__ == "__main__":
    sys.exit(main())
