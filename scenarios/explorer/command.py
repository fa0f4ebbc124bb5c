"""The command ``society explore``: a page to explore a run by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from virsci_society.agents.files.atomic_files import make_folder
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.terminal.console import open_to_show
from virsci_society.scenarios.terminal.options import RunFolder, Trust, guarded, tell


@guarded
def explore(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option("--out", help="Output file (default RUN/explorer.html).")
    ] = None,
    prompts: Annotated[
        bool | None,
        typer.Option(
            "--prompts/--no-prompts",
            help="Include the prompt of each call (default: up to 10,000 calls). The run is "
            "replayed from its journal; no call is made.",
        ),
    ] = None,
    trust: Trust = False,
) -> None:
    """Write an interactive page of a run."""
    tell(f"reading {run}", err=True)
    from virsci_society.scenarios.explorer.conversations import read_prompts
    from virsci_society.scenarios.explorer.page import FILE, write_explorer

    find_code_here(trust)
    opened = open_to_show(run)
    tell("writing the page with all conversations", err=True)
    book = read_prompts(run, len(opened.table("calls")), prompts, trust=trust)
    target = run / FILE if out is None else out
    if target.is_dir():
        target = target / FILE
    make_folder(target.parent)
    left_out = write_explorer(target, opened, book)
    tell(f"explorer: {target} ({target.stat().st_size / 1e6:.2f} MB)")
    for sentence in left_out:
        tell(f"omitted: {sentence}")
