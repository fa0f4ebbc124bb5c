"""Command ``society review``: a model reviews the abstracts of a run or a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.terminal.arguments import Settings, Trust, guarded

if TYPE_CHECKING:
    from virsci_society.scenarios.judgement.review import ReviewJob


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
    from virsci_society.scenarios.judgement.review import ReviewJob
    from virsci_society.scenarios.runs.progress import make_progress

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

    from virsci_society.scenarios.judgement.ratings.agreement import correlation_table, read_novelty
    from virsci_society.scenarios.judgement.reviews.tables import read_averages
    from virsci_society.scenarios.judgement.terminal_tables import print_correlations
    from virsci_society.scenarios.terminal.console import print_table

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
