"""Command ``society verify``: is a folder as it was written?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.terminal.arguments import guarded


@guarded
def verify(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Of a run, a study or an ecosystem.")
    ],
) -> None:
    """Check every file of a folder, and every row of its journals, against their hashes."""
    from virsci_society.scenarios.analysis.verification import verify_folder

    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder that the program wrote")
    told = verify_folder(folder)
    for line in told.found:
        typer.echo(line)
    if told.damage:
        raise InputError("\n".join(told.damage))
