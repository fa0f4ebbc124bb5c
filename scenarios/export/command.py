"""The commands ``society export``: an archive, a run's page or its figures.

One more, ``prompts``, stands with the commands that rehearse a scenario (``cli.checkup``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from virsci_society.agents.files.atomic_files import refuse_links
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.arguments import RunFolder, guarded, tell, writing
from virsci_society.scenarios.terminal.console import open_to_show

export = typer.Typer(help="Export archives, pages, figures and prompts.", no_args_is_help=True)


@export.command("archive")
@guarded
def archive(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN|STUDY", help="The folder of a run or a study.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="The file (default RUN.zip beside the folder).")
    ] = None,
    license_: Annotated[
        str | None, typer.Option("--license", metavar="SPDX", help="Such as CC-BY-4.0.")
    ] = None,
    author: Annotated[
        list[str] | None, typer.Option("--author", metavar="NAME", help="Can be repeated.")
    ] = None,
    ecosystem: Annotated[
        bool, typer.Option("--ecosystem", help="With the ecosystem's folder: see its licences.")
    ] = False,
) -> None:
    """Write one zip file that a stranger can verify with 'society doctor FILE.zip'.

    It is an RO-Crate with the files of the folder, which include scenario, journal and tables, and
    the SHA-256 of each.
    """
    from virsci_society.scenarios.export.archive import write_archive

    place = folder if folder.name not in ("", "..") else folder.resolve()
    target = place.with_name(f"{place.name}.zip") if out is None else out
    with writing(target), make_progress() as progress:
        progress.begin("checking and packing every file")
        files = write_archive(
            folder, target, license=license_, authors=author or (), ecosystem=ecosystem
        )
    tell(f"archive: {target} ({files} files); 'society doctor {target}' verifies it")


@export.command("page")
@guarded
def page(run: RunFolder) -> None:
    """Write the page of a run again, or of the part of it that there is."""
    from virsci_society.metrics.report.page import write_page
    from virsci_society.society.results.run import resolve_run_folder

    opened = open_to_show(run)
    tell("drawing the page", err=True)
    with writing(run, "written to"):
        tell(f"report: {write_page(opened, resolve_run_folder(run))}")


@export.command("figures")
@guarded
def figures(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder (default RUN/figures).")
    ] = None,
) -> None:
    """Write every figure of the run's page as an SVG file."""
    from virsci_society.metrics.report.figures import write_run_figures

    opened = open_to_show(run)
    tell("drawing the figures", err=True)
    target = run / "figures" if out is None else out
    if out is None:
        refuse_links(target)
    with writing(target):
        files = write_run_figures(target, opened)
    tell(f"figures: {target} ({len(files)} SVG files)")
