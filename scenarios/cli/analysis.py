"""The commands ``society compare``, ``measure`` and ``review``, which read finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenarios.cli.common import RunFolder, Settings, Trust, guarded
from scenarios.config.registry import find_code_here

if TYPE_CHECKING:
    from metrics.inference import Interval
    from scenarios.analysis.review import ReviewJob

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
    from metrics.report.page import write_page
    from metrics.validation.comparison import compare_samples as measured
    from scenarios.analysis.observed import compared_sides, limitations
    from scenarios.cli.console import print_table
    from society.ecosystem.ecosystem import Ecosystem
    from society.results.run import Run
    from society.results.table_files import write_measures

    opened, ecosystem = Run.open(run), Ecosystem.load(with_)
    table = measured(compared_sides(opened, ecosystem))
    notes = limitations(opened, ecosystem)
    cells = table.astype(object).where(table.notna(), None)
    title = f"{opened.name} beside {with_}"
    for heading, columns in ((title, VALUES), ("distances", DISTANCES)):
        rows = list(cells[[*columns]].itertuples(index=False, name=None))
        print_table(heading, tuple(columns.values()), rows)
    for note in (HEADS, *notes):
        typer.echo(note)
    try:
        unknown = pd.DataFrame({"unknown": pd.array(notes, dtype="string")})
        write_measures(run, {"observed": table, "observed_unknowns": unknown})
        typer.echo(f"report: {write_page(Run.open(run), run)}")
    except OSError as error:
        raise SocietyError(f"{run}: cannot be written to: {error.strerror}") from error


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
    from scenarios.analysis.rescoring import FOLDER, Baseline, compare_before_after, measure_again
    from scenarios.cli.console import print_table
    from scenarios.runs.progress import make_progress

    find_code_here(trust)
    by = Baseline(contemporary, past, embedding, trust)
    tables = []
    with make_progress() as progress:
        for run in runs:
            progress.begin(f"measuring {run}")
            tables.append(measure_again(run, by))
    unit, rows = compare_before_after(tables)
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
    from scenarios.cli.console import cell

    return f"{cell(one.value)} [{cell(one.low)}, {cell(one.high)}]"


@guarded
def review(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run or a study.")],
    kind: Annotated[str, typer.Option(help="virsci, novelty or proposal.")] = "virsci",
    set_: Settings = None,
    panel: Annotated[
        str | None, typer.Option(help="Name of the panel; by default that of its model.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Let a model review the abstracts of a run or a study; --set backend.KEY=VALUE says which.

    The same command goes on with a review that was stopped: nothing answered is asked again. The
    run's own tables and its digest stay as they are.
    """
    from scenarios.analysis.review import ReviewJob
    from scenarios.runs.progress import make_progress

    find_code_here(trust)
    made = ReviewJob.of(run, kind, set_ or (), panel, trust=trust)
    if made.done:
        typer.echo(f"{made.folder} holds this review already; nothing to do")
    else:
        with make_progress() as progress:
            progress.begin(f"reviewing ({kind})")
            made.execute(progress.wait)
    _show(made)


def _show(made: ReviewJob) -> None:
    import pandas as pd

    from metrics.ratings.agreement import correlation_table, read_novelty
    from metrics.reviews.tables import read_averages
    from scenarios.cli.console import print_correlations, print_table

    table = read_averages(made.folder.parents[1])
    mine = table[(table["panel"] == made.folder.name) & (table["kind"] == made.kind.name)]
    rows = []
    for name, scores in mine.groupby("dimension", sort=False)["score"]:
        known = scores.dropna()
        rows.append((str(name), len(known), _mean(known), len(scores) - len(known)))
    title = f"{made.kind.name}: {made.kind.source}"
    print_table(title, ("score", "abstracts", "mean", "unreadable"), rows)
    measured = []
    for before, run in made.runs.items():
        table = read_novelty(run)
        measured.append(table.assign(paper=before + table["paper"]))
    scored = mine.assign(rating=mine["dimension"])
    print_correlations(correlation_table(pd.concat(measured, ignore_index=True), scored))
    typer.echo(f"tables: {made.folder / 'averages.parquet'}, {made.folder / 'reviews.parquet'}")
    typer.echo(f"who reviewed: {made.about}")


def _mean(values: object) -> float | None:
    import pandas as pd

    return float(values.mean()) if isinstance(values, pd.Series) and len(values) else None
