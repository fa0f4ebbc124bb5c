"""The command ``society fork``: another future of a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenarios.arguments import RunFolder, Seed, Settings, Trust, find_code_here, with_seed
from scenarios.guard import guarded


@guarded
def fork(
    run: RunFolder,
    at: Annotated[str, typer.Option("--at", metavar="DATE", help="The day, such as 1y or 90d.")],
    out: Annotated[Path, typer.Option("--out", help="The folder of the fork.")],
    set_: Settings = None,
    remove: Annotated[
        str | None,
        typer.Option("--remove", metavar="RANK:N", help="Scientists who leave: degree:10."),
    ] = None,
    seed: Seed = None,
    trust: Trust = False,
) -> None:
    """Go on differently from one day of a finished run; what came before is not paid again.

    --set changes founding, protocol or time from that day on, --seed the luck, --remove takes
    scientists away (by degree, papers, citations or random). The same command goes on with a
    fork that was stopped.
    """
    from scenarios.fork import Fork
    from scenarios.progress import shown_progress

    find_code_here(trust)
    made = Fork.of(run, at, with_seed(set_, seed), remove, trust=trust)
    with shown_progress() as progress:
        past = made.run(out, progress)
    typer.echo(f"report: {out / 'report.html'}")
    typer.echo(
        f"shared with {run}: {past.events} events and {past.calls} calls before day {made.at:g}; "
        f"digest of that past {past.digest}"
    )
    typer.echo(f"who spoke: {made.scenario.backend.backend.about}")
