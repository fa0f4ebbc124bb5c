"""Calibrations of real communities at several boundaries, on one core.

For each corpus and boundary three windows before it are fitted and the one after it is held out,
as `society calibrate` does with nothing else in its file. Printed are the score, its standard error
over 20 seeds, and the scores of persistence, a trend and the society that is only counted; windows
that had no part in building the mechanism come first. Then who published and who wrote with whom,
predicted by the society and by its best rivals (AUC, 95 %). What every quantity was is in
`check.csv` in the folder of a calibration.

    python benchmarks/calibration.py vis=vis.jsonl.gz@2020,2022 rss=runs/fields/rss.jsonl.gz@2022

A calibration in the folder that was stopped is resumed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pandas as pd

from virsci_society.metrics.validation.people_predictions import LOGISTIC, SOCIETY, verdicts
from virsci_society.scenarios.calibration.calibrate import Outcome, calibrate
from virsci_society.scenarios.calibration.calibration_file import read_calibration

WINDOWS = 3
BUILT_ON = {"vis": 2018, "nlp": 2018}
"""Corpora with the last boundary that was looked at while the mechanism was made."""
SCORES = ("persistence", "trend", "counted")


def calibrated(
    name: str, source: Path, boundary: int, years: int, points: int, folder: Path
) -> Outcome:
    """Calibrate one corpus at one boundary, with windows of some years, in a folder of its own."""
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
    return calibrate(read_calibration(file), file.with_suffix(""))


def people_rows(table: pd.DataFrame) -> Iterator[str]:
    """A row per target: the society, the best single count and the logistic model."""
    yield "| target | of | society | best count | logistic model | average precision, Brier skill |"
    yield "|---|---:|---|---|---|---|"
    for target, rows in table.groupby("target", sort=False):
        known = rows.set_index("predictor")
        counts = known.drop([SOCIETY, LOGISTIC], errors="ignore").dropna(subset=["auc"])
        best = str(counts["auc"].idxmax()) if len(counts) else SOCIETY
        cells = [
            f"{one.auc:.2f} ({one.auc_low:.2f} to {one.auc_high:.2f})"
            for one in (
                known.loc[name] for name in (SOCIETY, best, LOGISTIC) if name in known.index
            )
        ]
        mine = known.loc[SOCIETY]
        told = f"{mine.observed:.0f} of {mine.candidates:,.0f}"
        last = f"{mine.precision:.3f}, {mine.brier_skill:.3f}"
        cells[1] = f"{best} {cells[1]}"
        yield f"| {target} | {told} | {' | '.join(cells)} | {last} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="+", metavar="NAME=FILE@YEAR,YEAR", help="JSON lines")
    parser.add_argument("--years", type=int, default=2, help="length of every window")
    parser.add_argument("--points", type=int, default=300, help="that are simulated")
    parser.add_argument("--out", type=Path, default=Path("runs/calibrations/benchmark"))
    given = parser.parse_args()
    rows, pages, ratios = [], [], []
    for name, _, place in (one.partition("=") for one in given.corpora):
        source, _, boundaries = place.rpartition("@")
        for boundary in map(int, boundaries.split(",")):
            outcome = calibrated(name, Path(source), boundary, given.years, given.points, given.out)
            one = outcome.scores.iloc[0]
            seen = boundary <= BUILT_ON.get(name, 0)
            ratios.append((seen, *(one.score_simulated / one[f"score_{two}"] for two in SCORES)))
            cells = [
                *(name, one.window, "yes" if seen else "no"),
                f"{one.score_simulated:.2f} ({one.score_error:.2f})",
                one.within_simulated,
                *(f"{one[f'score_{two}']:.2f} | {one[f'within_{two}'] or '-'}" for two in SCORES),
                f"{one.inside_90} of {one['of']}",
            ]
            rows.append((seen, f"| {' | '.join(map(str, cells))} |"))
            said = [*verdicts(outcome.people), *people_rows(outcome.people), *outcome.notes]
            pages.append("\n".join([f"\n{name}, {one.window}\n", *said]))
    heads = "corpus | held out | built on | score (error) | within | persistence | within | trend"
    print(f"| {heads} | within | counted | within | inside 90 % |\n|---|---|---|" + "---:|" * 9)
    print(*(row for _, row in sorted(rows, key=lambda one: one[0])), sep="\n")
    for seen, label in ((False, "not used for building"), (True, "used for building")):
        if chosen := [one[1:] for one in ratios if one[0] == seen]:
            known = ([one for one in part if one == one] for part in zip(*chosen, strict=True))
            two = ", ".join(f"{median(part):.2f}" for part in known)
            print(f"{label}: median ratio of the scores to {', '.join(SCORES)}: {two}")
    print(*pages, sep="\n")


if __name__ == "__main__":
    main()
