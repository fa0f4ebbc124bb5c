"""The command ``society calibrate``."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.arguments import Trust, guarded, tell
from virsci_society.scenarios.terminal.console import print_table

if TYPE_CHECKING:
    from virsci_society.scenarios.calibration.outputs import Outcome


@guarded
def calibrate(
    source: Annotated[
        Path,
        typer.Argument(metavar="ECOSYSTEM|FILE", help="An ecosystem folder or a calibration file."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder (default runs/calibrations/NAME).")
    ] = None,
    base: Annotated[
        str | None, typer.Option(metavar="SCENARIO", help="The scenario that is extended.")
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only print how many simulations, and how long.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes; results stay the same.")] = 1,
    trust: Trust = False,
) -> None:
    """Fit a society to past papers; test on later years.

    Of an ecosystem its past papers alone are used. The same command resumes a calibration
    that was stopped.
    """
    from virsci_society.scenarios.calibration import calibrate as calibration
    from virsci_society.scenarios.calibration.calibration_file import read_calibration

    find_code_here(trust)
    with make_progress() as progress:
        progress.begin(f"reading {source}")
        read = read_calibration(source, base=base, trust=trust)
        if not plan:
            folder = out or Path("runs") / "calibrations" / source.stem
            outcome = calibration.calibrate(read, folder, workers=workers, tell=progress.begin)
    if not plan:
        _print_outcome(outcome, folder)
        return
    runs, seconds = calibration.plan(read)
    number = sum(runs.values())
    print_table("simulations", ("of what", "number"), [*runs.items(), ("all", number)])
    tell(
        f"{seconds:.2f} s each, by a timed pair; about {number * seconds / workers / 60:.1f} "
        f"minutes with {workers} process{'es' * (workers > 1)}"
    )


def _print_outcome(outcome: Outcome, folder: Path) -> None:
    columns = ["key", "value", "origin", "low", "high"]
    rows = [
        # What is not identified keeps its prior, as the page says at length.
        (key, value, origin.partition(",")[0], f"{low:.3g} to {high:.3g}" if isfinite(low) else "")
        for key, value, origin, low, high in outcome.parameters[columns].itertuples(index=False)
    ]
    print_table("parameters", ("key", "value", "origin", "90 %"), rows)
    # The other columns are on the page: these fit a terminal of 80 columns.
    columns = ["measure", "observed", "simulated", "persistence", "trend", "off_simulated"]
    judged = outcome.check[outcome.check["off_simulated"].notna()]
    for window, part in judged.groupby("window", sort=False):
        cells = part.astype(object).where(part.notna(), None)
        rows = list(cells[columns].itertuples(index=False, name=None))
        print_table(f"held out, {window}; off in tolerances", (*columns[:-1], "off"), rows)
    for one in outcome.scores.to_dict("records"):
        scores = [f"{one['window']}: score {_score(one, 'simulated')} within tolerance"]
        scores += [f"{rival} {_score(one, rival)}" for rival in ("persistence", "trend")]
        tell("; ".join(scores))
    for note in (*outcome.fit.calibration.notes, outcome.opened):
        tell(note)
    tell(f"scenario: {folder / 'calibrated.yaml'}")
    tell(f"report: {folder / 'report.html'}")


def _score(row: Mapping[Hashable, Any], forecaster: str) -> str:
    score = row[f"score_{forecaster}"]
    if not isfinite(score):
        return "needs three earlier windows"
    return f"{score:.2f}, {row[f'within_{forecaster}']:.0f} of 14"
