"""The command ``society calibrate``."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.console import print_table
from virsci_society.scenarios.terminal.options import Trust, guarded, tell

if TYPE_CHECKING:
    import pandas as pd


@guarded
def calibrate(
    source: Annotated[
        Path,
        typer.Argument(metavar="ECOSYSTEM|FILE", help="An ecosystem folder or a calibration file."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Output folder (default runs/calibrations/NAME).")
    ] = None,
    base: Annotated[str | None, typer.Option(metavar="SCENARIO", help="Base scenario.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes; does not affect results.")] = 1,
    exits: Annotated[
        bool, typer.Option("--exits", help="Test the effect of departing stars; no fit.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Fit a society to past papers; test on later years.

    Only the past papers of an ecosystem are used. Repeat the command to resume a stopped
    calibration. --exits fits nothing: it compares the papers of collaborators and outsiders around
    stars who left with those around stars who stayed, in the data and in simulations of the base.
    """
    from virsci_society.metrics.validation.people_predictions import verdicts
    from virsci_society.scenarios.calibration.calibrate import calibrate as run_calibration
    from virsci_society.scenarios.calibration.calibration_file import read_calibration
    from virsci_society.scenarios.calibration.exits import exit_effects
    from virsci_society.scenarios.calibration.hindcast import RIVALS

    find_code_here(trust)
    with make_progress() as progress:
        progress.begin(f"reading {source}")
        read = read_calibration(source, base=base, trust=trust)
        if exits:
            _tell_exits(exit_effects(read, progress.begin))
            return
        folder = out or Path("runs") / "calibrations" / source.stem
        outcome = run_calibration(read, folder, workers=workers, tell=progress.begin)
    columns = ["key", "value", "origin", "low", "high"]
    rows = [
        # Unidentified parameters keep their prior, as the page explains.
        (key, value, origin.partition(",")[0], f"{low:.3g} to {high:.3g}" if isfinite(low) else "")
        for key, value, origin, low, high in outcome.parameters[columns].itertuples(index=False)
    ]
    print_table("parameters", ("key", "value", "origin", "90 %"), rows)
    # The other columns are on the page: these fit a terminal of 80 columns.
    columns = ["measure", "observed", "simulated", "persistence", "trend", "off_simulated"]
    judged = outcome.check[outcome.check["off_simulated"].notna()]
    cells = judged.astype(object).where(judged.notna(), None)
    rows = list(cells[columns].itertuples(index=False, name=None))
    window = outcome.fit.file.held_out.name
    print_table(f"held out, {window}; off in tolerances", (*columns[:-1], "off"), rows)
    one, told = outcome.scores.iloc[0], []
    for label, forecaster in zip(("score", *RIVALS), ("simulated", *RIVALS), strict=True):
        score = "needs three earlier windows"
        if isfinite(one[f"score_{forecaster}"]):
            within = one[f"within_{forecaster}"]
            score = f"{one[f'score_{forecaster}']:.2f}, {within:.0f} of 14"
        if label == "score":
            score += f" within tolerance, standard error over seeds {one['score_error']:.2f}"
        told.append(f"{label} {score}")
    tell(f"{window}: {'; '.join(told)}")
    for note in (*verdicts(outcome.people), *outcome.notes):
        tell(note)
    tell(f"scenario: {folder / 'calibrated.yaml'}")
    tell(f"report: {folder / 'report.html'}")


def _tell_exits(table: pd.DataFrame) -> None:
    """Print what followed the exits of stars."""
    rows = []
    for group, side, exits, before, *shares in table.itertuples(index=False):
        effect, low, high, detectable = (f"{one:+.0%}" for one in shares)
        cells = (f"{before:.2f}", effect, f"{low} to {high}", detectable.lstrip("+"))
        rows.append((group, side, exits, *cells))
    heads = ("group", "side", "exits", "before", "effect", "95 %", "detectable")
    print_table("papers per person and year after a star stopped", heads, rows)
    tell(
        "Effect: difference in differences with the five most similar stars who stay, over three "
        "years, as a share of the papers before. Detectable: found with 80 % power. A star who "
        "stops may do so for what stops its collaborators too."
    )
