"""The commands ``society export``: prompts, an archive, a run's page or its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import refuse_links
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.console import open_to_show, print_table
from virsci_society.scenarios.terminal.options import (
    RunFolder,
    Seed,
    Settings,
    Trust,
    find_run,
    guarded,
    tell,
    with_seed,
)

export = typer.Typer(help="Export archives, pages, figures and prompts.", no_args_is_help=True)


@export.command("prompts")
@guarded
def prompts(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO|RUN", help="A scenario, or a finished run.")
    ],
    seed: Seed = None,
    set_: Settings = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Output file (default prompts/SCENARIO-SEED.md).")
    ] = None,
    teams: Annotated[
        int | None, typer.Option("--teams", metavar="N", min=1, help="Only the first N teams.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Write all prompts and replies to one Markdown file.

    For a scenario, rule-based scientists rehearse it without calling a model. For a finished run,
    the prompts and replies of the run are written.
    """
    from virsci_society.scenarios.config.document import library
    from virsci_society.scenarios.config.schema import load_scenario
    from virsci_society.scenarios.planning.prompts import (
        TOKENS,
        rehearse_prompts,
        replay_prompts,
        require_place,
        write_prompts,
    )
    from virsci_society.scenarios.runs.execute import default_folder
    from virsci_society.scenarios.runs.run_journal import JOURNAL

    find_code_here(trust)
    folder = Path(scenario) if scenario in library() else find_run(Path(scenario))
    settings, is_run = with_seed(set_, seed), (folder / JOURNAL).is_file()
    if is_run and settings:
        raise InputError("--set and --seed change a scenario, and this is a run")
    chosen = None if is_run else load_scenario(scenario, settings=settings, trust=trust)
    name = folder.resolve().name if chosen is None else default_folder(chosen).name
    target = out or Path("prompts") / f"{name}.md"
    require_place(target)  # before the rehearsal, which may take a while
    with make_progress() as progress:
        if chosen is None:
            progress.begin("replaying from the journal")
            listing = replay_prompts(folder, teams, trust=trust)
        else:
            progress.begin("rehearsing")
            listing = rehearse_prompts(chosen, teams)
    write_prompts(listing, target)
    print_table("tokens by page", ("stage", "page", "calls", *TOKENS), listing.totals())
    tell(f"{len(listing.calls):,} prompts: {target}", listing.words)


@export.command("archive")
@guarded
def archive(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN|STUDY", help="A run or study.", callback=find_run)
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Output file (default RUN.zip next to the folder).")
    ] = None,
) -> None:
    """Write one zip file with checksums.

    It is an RO-Crate of the folder with scenario, journal and tables, and the SHA-256 of each file.
    'society doctor FILE.zip' verifies it.
    """
    from virsci_society.scenarios.export.archive import write_archive

    place = folder if folder.name not in ("", "..") else folder.resolve()
    target = place.with_name(f"{place.name}.zip") if out is None else out
    with make_progress() as progress:
        progress.begin("verifying and compressing every file")
        files = write_archive(folder, target)
    tell(f"archive: {target} ({files} files); 'society doctor {target}' verifies it")


@export.command("page")
@guarded
def page(run: RunFolder) -> None:
    """Write the page of a finished or partial run again."""
    from virsci_society.metrics.report.page import write_page
    from virsci_society.society.results.run import resolve_run_folder

    opened = open_to_show(run)
    tell("writing the page", err=True)
    tell(f"report: {write_page(opened, resolve_run_folder(run))}")


@export.command("figures")
@guarded
def figures(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option("--out", help="Output folder (default RUN/figures).")
    ] = None,
) -> None:
    """Write the figures of the run's page as SVG files."""
    from virsci_society.metrics.report.figures import write_run_figures

    opened = open_to_show(run)
    tell("writing the figures", err=True)
    target = run / "figures" if out is None else out
    if out is None:
        refuse_links(target)
    files = write_run_figures(target, opened)
    tell(f"figures: {target} ({len(files)} SVG files)")
