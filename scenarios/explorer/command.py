"""The command ``society explore``: a page to explore a run by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from virsci_society.agents.files.atomic_files import make_folder
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.terminal.arguments import RunFolder, Trust, guarded, tell, writing
from virsci_society.scenarios.terminal.console import open_to_show

Prompts = Annotated[
    bool | None,
    typer.Option(
        "--prompts/--no-prompts",
        help="With what was asked in each call (default: up to 10,000 calls). The run is gone "
        "through again from its journal; nothing is asked.",
    ),
]


@guarded
def explore(
    run: RunFolder,
    other: Annotated[
        Path | None, typer.Argument(metavar="[OTHER_RUN]", help="A second run, or a fork.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file (default RUN/explorer.html).")
    ] = None,
    prompts: Prompts = None,
    trust: Trust = False,
) -> None:
    """Write an interactive page of one or more runs.

    Two runs are shown side by side, with the day on which they part.
    """
    from virsci_society.scenarios.explorer.conversations import read_prompts
    from virsci_society.scenarios.explorer.page import FILE, write_explorer

    find_code_here(trust)
    folders = [run] if other is None else [run, other]
    runs = [open_to_show(folder) for folder in folders]
    tell("drawing the page with all that was said", err=True)
    books = [
        read_prompts(folder, len(opened.table("calls")), prompts, trust=trust)
        for folder, opened in zip(folders, runs, strict=True)
    ]
    target = run / FILE if out is None else out
    if target.is_dir():
        target = target / FILE
    with writing(target):
        make_folder(target.parent)
        made = write_explorer(target, runs, books)
    tell(f"explorer: {target} ({target.stat().st_size / 1e6:.2f} MB)")
    for sentence in made.left_out:
        tell(f"left out: {sentence}")
    if other is not None:
        day = made.parted
        tell("the runs do not differ" if day is None else f"the runs part on day {day:g}")
