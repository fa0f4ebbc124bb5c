"""The command ``society measure``: the novelty of finished runs against other papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenarios.arguments import Trust, find_code_here
from scenarios.guard import guarded

if TYPE_CHECKING:
    from metrics.statistics import Interval

Eco = typer.Option(metavar="ECOSYSTEM", help="A folder; its contemporary side is taken.")


@guarded
def measure(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    contemporary: Annotated[Path, Eco],
    past: Annotated[
        Path | None,
        typer.Option(metavar="ECOSYSTEM", help="Whose past is taken; the runs' own by default."),
    ] = None,
    embedding: Annotated[
        str | None, typer.Option(help="Another embedding, such as lsa:64; fitted on the past.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Measure HD, CD, CI and ON again, against other papers or in another embedding.

    Without a call; the runs' own tables and digests stay as they are.
    """
    from scenarios.measuring import FOLDER, Yardstick, compared, measure_again
    from scenarios.overview import print_table
    from scenarios.progress import shown_progress

    find_code_here(trust)
    by = Yardstick(contemporary, past, embedding, trust)
    tables = []
    with shown_progress() as progress:
        for run in runs:
            progress.begin(f"measuring {run}")
            tables.append(measure_again(run, by))
    unit, rows = compared(tables)
    shown = [(row[0], row[1], *map(_within, row[2:5]), row[5]) for row in rows]
    columns = ("measure", unit, "before [95 %]", "now [95 %]", "difference [95 %]", "rank r")
    print_table(f"measured again: {by.name}", columns, shown)
    typer.echo(f"tables: {FOLDER}/{by.name}.parquet in each run folder, and what was compared")
    typer.echo("rank r: Spearman of before and now, over abstracts")
    if unit == "abstracts":
        typer.echo(
            "one run: its abstracts share people and papers, so the intervals are too narrow"
        )


def _within(one: Interval) -> str:
    from scenarios.overview import cell

    return f"{cell(one.value)} [{cell(one.low)}, {cell(one.high)}]"
