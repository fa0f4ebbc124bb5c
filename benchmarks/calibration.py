"""Calibrations of real communities at several boundaries, on one core.

For each corpus and boundary three windows before it are fitted and the one after it is held out,
as `society calibrate` does with nothing else in its file. Printed are the processor time, in
seconds and in units of a loop (`sum(i * i for i in range(20_000_000))`, about a second), and the
score beside those of persistence and a trend; then what every quantity was, calibrated, with the
shipped values of the base, before, and by the trend.

    python benchmarks/calibration.py vis=shared/vis/papers.jsonl.gz --boundaries 2012 --years 4

A calibration in the folder that was stopped is resumed; one that is there costs nothing again, and
its time is that of the first time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pandas as pd

from virsci_society.metrics.validation.tolerances import mean_of_known
from virsci_society.scenarios.calibration.calibrate import Outcome, calibrate
from virsci_society.scenarios.calibration.calibration_file import (
    PreparedCalibration,
    read_calibration,
)
from virsci_society.scenarios.calibration.windows import MEASURED, ObservedWindow
from virsci_society.society.literature.papers import DAYS_PER_YEAR

WINDOWS = 3


def loop_seconds() -> float:
    """Processor time of the loop in which times are told."""
    began = time.process_time()
    sum(i * i for i in range(20_000_000))
    return time.process_time() - began


def calibrated(
    name: str, source: Path, boundary: int, years: int, points: int, folder: Path
) -> Outcome:
    """Calibrate one corpus at one boundary, in a folder of its own.

    Args:
        name: of the corpus.
        source: its papers as JSON lines.
        boundary: the first year that is held out.
        years: of every window.
        points: that are simulated.
        folder: in which the file and the folder of the calibration are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    first_years = range(boundary - WINDOWS * years, boundary + 1, years)
    windows = [f"{one}-{one + years - 1}" for one in first_years]
    file = folder / f"{name}-{boundary}-{years}.yaml"
    file.write_text(
        f"calibrate: {name} before {boundary}\n"
        f"papers: [jsonl, {json.dumps(str(source.resolve()))}]\n"
        f"fit: [{', '.join(windows[:-1])}]\nheld_out: {windows[-1]}\n"
        f"effort: {{points: {points}, "
        f"noise: {max(5, points // 10)}, draws: {max(5, points // 15)}}}\n"
    )
    clock = file.with_suffix(".seconds")
    began = time.process_time()
    outcome = calibrate(read_calibration(file), file.with_suffix(""))
    spent = time.process_time() - began
    if not clock.exists():
        clock.write_text(f"{spent:.0f} {spent / loop_seconds():.0f}\n")
    return outcome


def quantities(outcome: Outcome) -> Iterator[str]:
    """A table of what every quantity of the held-out window was."""
    shipped = shipped_values(outcome.fit.calibration)
    yield "| quantity | observed | calibrated | shipped | before | trend |"
    yield "|---|---:|---:|---:|---:|---:|"
    for row in outcome.check[outcome.check["off_simulated"].notna()].itertuples():
        seen = "" if pd.isna(row.observed) else f"{row.observed:.3g}"
        values = (row.simulated, shipped[row.measure], row.persistence, row.trend)
        yield f"| {row.measure} | {seen} | {' | '.join(f'{one:.3g}' for one in values)} |"


def shipped_values(calibration: PreparedCalibration, seeds: int = 5) -> dict[str, float]:
    """Means of what the base measures in the held-out window, with teams a year as before it."""
    window = ObservedWindow.of(calibration.corpus, calibration.file.held_out)
    rate = len(window.before.between(-2 * DAYS_PER_YEAR, 0.0)) / 2
    parameters = {"founding.teams_per_year": rate}
    runs = [
        window.values(
            calibration.simulator.simulate(parameters, window.before, 0.0, window.days, seed)
        )
        for seed in range(seeds)
    ]
    return {name: mean_of_known([one[name] for one in runs]) for name in MEASURED}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="+", metavar="NAME=FILE", help="papers as JSON lines")
    parser.add_argument("--boundaries", type=int, nargs="+", default=[2008, 2012, 2016])
    parser.add_argument("--years", type=int, default=2, help="length of every window")
    parser.add_argument("--points", type=int, default=300, help="that are simulated")
    parser.add_argument("--out", type=Path, default=Path("runs/calibrations/benchmark"))
    given = parser.parse_args()
    rows, pages, ratios = [], [], []
    for name, _, source in (one.partition("=") for one in given.corpora):
        for boundary in given.boundaries:
            outcome = calibrated(name, Path(source), boundary, given.years, given.points, given.out)
            place = given.out / f"{name}-{boundary}-{given.years}.seconds"
            one = next(outcome.scores.itertuples())
            ratios.append(one.score_simulated / one.score_persistence)
            cells = (
                *(name, one.window, len(outcome.fit.corpus.before(boundary))),
                *place.read_text().split(),
                *(f"{one.score_simulated:.2f}", one.within_simulated),
                *(f"{one.score_persistence:.2f}", one.within_persistence),
                *(f"{one.score_trend:.2f}", f"{one.within_trend or 0:.0f}"),
                f"{one.inside_90} of {one.of}",
            )
            rows.append(f"| {' | '.join(map(str, cells))} |")
            pages.append("\n".join([f"\n{name}, {one.window}\n", *quantities(outcome)]))
    print(
        "| corpus | held out | papers before | seconds | loops | score | within | persistence |"
        " within | trend | within | inside 90 % |"
    )
    print("|---|---|" + "---:|" * 10)
    told = f"\nmedian ratio of the scores to persistence: {median(ratios):.2f}"
    print("\n".join([*rows, told, *pages]))


if __name__ == "__main__":
    main()
