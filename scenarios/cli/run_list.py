"""The commands ``society runs`` and ``society open``: which runs there are, and the page of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.terminal.arguments import Json, guarded


@guarded
def runs(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to look for runs.")
    ] = Path("runs"),
    json: Json = False,
) -> None:
    """List the runs below a folder, each with its state, date and cost."""
    from virsci_society.scenarios.runs.run_list import list_runs

    found = list_runs(folder)
    if json:
        from json import dumps

        typer.echo(dumps([one.to_data() for one in found], indent=1))
        return
    from virsci_society.scenarios.terminal.console import print_table

    if not found:
        typer.echo(f"{folder}: no run in it; 'society run quickstart' makes one")
        return
    rows = [
        (
            one.folder,
            one.state,
            one.date[:16].replace("T", " "),
            one.days,
            one.calls,
            one.tokens,
            None if one.usd is None else f"{one.usd:,.2f}",
        )
        for one in found
    ]
    heads = ("folder", "state", "date (UTC)", "days", "model calls", "tokens", "US$")
    print_table(f"runs in {folder}", heads, rows)


@guarded
def open_(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run or a study.")],
) -> None:
    """Open the page of a run or a study in the browser."""
    import webbrowser

    from virsci_society.agents.files.atomic_files import require_regular_file
    from virsci_society.society.results.run import resolve_run_folder

    if not run.is_dir():
        raise InputError(f"{run}: no such folder; 'society runs' lists those that there are")
    page = resolve_run_folder(run) / "report.html"
    if not page.exists():
        raise InputError(f"{page}: missing; 'society report {run}' writes it")
    require_regular_file(page)
    address = page.resolve().as_uri()
    opened = webbrowser.open(address)
    typer.echo(str(page) if opened else f"no browser here; open {address}")
