"""The command ``society review``: a model judges the abstracts of a finished run or a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenarios.arguments import Settings, Trust, find_code_here
from scenarios.guard import guarded

if TYPE_CHECKING:
    from scenarios.review import Reviewing


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
    from scenarios.progress import shown_progress
    from scenarios.review import Reviewing

    find_code_here(trust)
    made = Reviewing.of(run, kind, set_ or (), panel, trust=trust)
    if made.done:
        typer.echo(f"{made.folder} holds this review already; nothing to do")
    else:
        with shown_progress() as progress:
            progress.begin(f"reviewing ({kind})")
            made.execute(progress.wait)
    _show(made)


def _show(made: Reviewing) -> None:
    import pandas as pd

    from metrics.ratings import correlations, novelty_of
    from metrics.reviews.tables import averages_of
    from scenarios.overview import print_table
    from scenarios.rating_tables import print_correlations

    table = averages_of(made.folder.parents[1])
    mine = table[(table["panel"] == made.folder.name) & (table["kind"] == made.kind.name)]
    rows = []
    for name, scores in mine.groupby("dimension", sort=False)["score"]:
        known = scores.dropna()
        rows.append((str(name), len(known), _mean(known), len(scores) - len(known)))
    title = f"{made.kind.name}: {made.kind.source}"
    print_table(title, ("score", "abstracts", "mean", "unreadable"), rows)
    measured = []
    for before, run in made.runs.items():
        table = novelty_of(run)
        measured.append(table.assign(paper=before + table["paper"]))
    scored = mine.assign(rating=mine["dimension"])
    print_correlations(correlations(pd.concat(measured, ignore_index=True), scored))
    typer.echo(f"tables: {made.folder / 'averages.parquet'}, {made.folder / 'reviews.parquet'}")
    typer.echo(f"who reviewed: {made.about}")


def _mean(values: object) -> float | None:
    import pandas as pd

    return float(values.mean()) if isinstance(values, pd.Series) and len(values) else None
