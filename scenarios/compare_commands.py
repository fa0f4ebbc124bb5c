"""``society compare``: a run beside what the community really did after the boundary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenarios.arguments import RunFolder
from scenarios.guard import guarded

VALUES = {
    "quantity": "quantity",
    "simulated": "run",
    "observed_inside": "own",
    "observed": "all",
    "before": "before",
}
DISTANCES = {
    "quantity": "quantity",
    "kind": "distance",
    "distance_inside": "run/own",
    "distance": "run/all",
    "distance_before": "before/all",
}
"""Columns that are printed, and their heads."""
HEADS = (
    "run: simulated; own: the real papers of its scientists; all: of everybody; before: those of "
    "as long a time before the boundary, a yardstick. KS: Kolmogorov-Smirnov, JS: Jensen-Shannon, "
    "both from 0 (alike) to 1; else the difference."
)


@guarded
def compare(
    run: RunFolder,
    with_: Annotated[
        Path, typer.Option("--with", metavar="ECOSYSTEM", help="The folder it started from.")
    ],
) -> None:
    """Show a run beside the real papers after the boundary, and add the table to its report.

    The folder keeps it as the measure ``observed``; its digest stays as it is.
    """
    import pandas as pd

    from agents.errors import SocietyError
    from metrics.compare import compare as measured
    from metrics.report.page import write_page
    from scenarios.observed import sides_of, unknowns
    from scenarios.overview import print_table
    from society.ecosystem.ecosystem import Ecosystem
    from society.run import Run, write_measures

    opened, ecosystem = Run.open(run), Ecosystem.load(with_)
    table = measured(sides_of(opened, ecosystem))
    notes = unknowns(opened, ecosystem)
    told = table.astype(object).where(table.notna(), None)
    title = f"{opened.name} beside {with_}"
    for heading, columns in ((title, VALUES), ("distances", DISTANCES)):
        rows = list(told[[*columns]].itertuples(index=False, name=None))
        print_table(heading, tuple(columns.values()), rows)
    for note in (HEADS, *notes):
        typer.echo(note)
    try:
        unknown = pd.DataFrame({"unknown": pd.array(notes, dtype="string")})
        write_measures(run, {"observed": table, "observed_unknowns": unknown})
        typer.echo(f"report: {write_page(Run.open(run), run)}")
    except OSError as error:
        raise SocietyError(f"{run}: cannot be written to: {error.strerror}") from error
