"""The command ``society calibrate``."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.arguments import Settings, Trust, guarded, tell
from virsci_society.scenarios.terminal.console import print_table

if TYPE_CHECKING:
    from virsci_society.scenarios.calibration.calibrate import Forecast
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
    set_: Settings = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only tell how many simulations, and how long.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes; results stay the same.")] = 1,
    sbc: Annotated[
        int,
        typer.Option("--sbc", metavar="N", min=0, help="Synthetic societies of known truth."),
    ] = 0,
    trust: Trust = False,
) -> None:
    """Fit a society to past papers, and judge it on years that the fit did not see.

    Of an ecosystem its past papers alone are used. The same command resumes a calibration
    that was stopped.
    """
    from virsci_society.scenarios.calibration.calibrate import calibrate as fitted
    from virsci_society.scenarios.calibration.calibrate import forecast
    from virsci_society.scenarios.calibration.reader import read_calibration

    find_code_here(trust)
    with make_progress() as progress:
        progress.begin(f"reading {source}")
        read = read_calibration(source, base=base, settings=set_ or (), trust=trust)
        if plan:
            _print_forecast(forecast(read, workers, sbc))
            return
        folder = out or Path("runs") / "calibrations" / source.stem
        outcome = fitted(read, folder, workers=workers, truths=sbc, tell=progress.begin)
    _print_outcome(outcome, folder)


def _print_forecast(found: Forecast) -> None:
    rows = [*found.runs.items(), ("all", sum(found.runs.values()))]
    print_table("simulations", ("of what", "number"), rows)
    tell(
        f"{found.seconds_a_run:.2f} s each, by a timed pair; about {found.minutes:.1f} minutes "
        f"with {found.workers} process{'es' * (found.workers > 1)}"
    )


def _print_outcome(outcome: Outcome, folder: Path) -> None:
    told = outcome.parameter_table()
    columns = ["key", "value", "origin", "low", "high"]
    rows = [
        # What is not identified keeps its prior, as the page tells at length.
        (key, value, origin.partition(",")[0], f"{low:.3g} to {high:.3g}" if isfinite(low) else "")
        for key, value, origin, low, high in told[columns].to_numpy(dtype=object).tolist()
    ]
    print_table("parameters", ("key", "value", "origin", "90 %"), rows)
    check = outcome.checked.table
    judged = check[check["error_in_tolerances"].notna()]
    # The other columns stand on the page: these fit a terminal of 80 columns.
    columns = ["quantity", "simulated", "sd", "observed", "before", "error_in_tolerances"]
    heads = (*columns[:-1], "off")
    for window, part in judged.groupby("window", sort=False):
        cells = part.astype(object).where(part.notna(), None)
        rows = list(cells[columns].itertuples(index=False, name=None))
        print_table(f"held out, {window}; off in tolerances", heads, rows)
    for one in outcome.checked.scores.itertuples():
        tell(
            f"{one.window}: score {one.score:.2f}, {one.within} of 14 within tolerance; as before "
            f"{one.before_score:.2f}, {one.before_within} of 14"
        )
    for note in (*outcome.fit.calibration.notes, outcome.checked.told):
        tell(note)
    tell(f"scenario: {folder / 'calibrated.yaml'}")
    tell(f"report: {folder / 'report.html'}")
