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
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from virsci_society.metrics.inference.coverage import (  # noqa: E402
    FAMILIES,
    POOR_COVERAGE,
    REPLICATES,
    CoverageCell,
    simulate_coverage,
)

KEPT = ROOT / "metrics" / "inference" / "coverage.csv"
MARK = (0.94, 0.96)


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


def row(cell: CoverageCell) -> str:
    """One line of the printed table."""
    shares = "".join(f"{share(value):>9}" for value in (cell.t, cell.bca, cell.log))
    return f"{FAMILIES[cell.family].meaning:<47}{cell.n:>4}{cell.skewness:>10.2f}{shares}"


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
