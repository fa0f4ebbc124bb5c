"""The commands ``society export``: an archive, a run's page, its figures, traces, or a data set.

One more, ``prompts``, stands with the commands that rehearse a scenario (``cli.checkup``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from virsci_society.agents.invented_names import masked_name
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.arguments import RunFolder, Trust, guarded, tell, writing
from virsci_society.scenarios.terminal.console import open_to_show

export = typer.Typer(
    help="Write a run, or the prompts of a scenario, for other readers and programs.",
    no_args_is_help=True,
)


@export.command("otel")
@guarded
def otel(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file (default RUN/traces.json).")
    ] = None,
    team: Annotated[
        str | None, typer.Option("--team", help="One team only, such as Vizona/1.")
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="With prompts and replies as attributes.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Write run, teams, stages and calls as OpenTelemetry spans (OTLP JSON, GenAI conventions)."""
    from virsci_society.agents.journal.journal import Journal
    from virsci_society.metrics.report.transcript import team_rows
    from virsci_society.scenarios.explorer.conversations import read_prompts
    from virsci_society.scenarios.export.otlp import spans_of, write_traces
    from virsci_society.scenarios.runs.run_journal import JOURNAL

    find_code_here(trust)
    opened = open_to_show(run)
    team = None if team is None else masked_name(team)
    if team is not None:
        team_rows(opened, team)
    attempts = []
    if (run / JOURNAL).is_file():
        with Journal.open(run / JOURNAL, frozen=True) as journal:
            attempts = list(journal.attempts())
    book = read_prompts(run, len(opened.table("calls")), words or False, trust=trust)
    target = run / "traces.json" if out is None else out
    spans = spans_of(opened, attempts, team=team, words=words, book=book)
    with writing(target):
        write_traces(target, opened, spans)
    tell(f"traces: {target} ({len(spans):,} spans; their dates are simulated)")


@export.command("dataset")
@guarded
def dataset(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder (default RUN/dataset).")
    ] = None,
) -> None:
    """Write abstracts, ideas, votes and reviews as Parquet, with a datasheet and Croissant file.

    Every row says whether a machine wrote it, and which model, rules or person did.
    """
    from virsci_society.scenarios.export.dataset import write_dataset

    _export_tables("dataset", write_dataset, run, out)


@export.command("pyscisci")
@guarded
def pyscisci(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder (default RUN/pyscisci).")
    ] = None,
) -> None:
    """Write papers, authors and citations as a database that pySciSci reads (CustomDB)."""
    from virsci_society.scenarios.export.pyscisci import write_pyscisci

    _export_tables("pyscisci", write_pyscisci, run, out)


def _export_tables(
    name: str, write: Callable[..., Mapping[str, int]], run: Path, out: Path | None
) -> None:
    """Write a folder of tables, below the run where no other is given, and tell how many rows."""
    opened = open_to_show(run)
    target = run / name if out is None else out
    with writing(target):
        # Below a run, which may come from a stranger, no folder may be a link.
        rows = write(target, opened, within=run if out is None else None)
    counted = ", ".join(f"{count:,} {table}" for table, count in rows.items())
    tell(f"{name}: {target} ({counted})")


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

    It is an RO-Crate: scenario, journal, tables, seeds, versions, costs, a data set with a
    Croissant file, CITATION.cff, codemeta.json and the hash of every file.
    """
    from virsci_society.scenarios.export.archive import write_archive

    place = folder if folder.name not in ("", "..") else folder.resolve()
    target = place.with_name(f"{place.name}.zip") if out is None else out
    with writing(target), make_progress() as progress:
        files = write_archive(
            folder,
            target,
            license=license_,
            authors=author or (),
            ecosystem=ecosystem,
            announce=progress.begin,
        )
    tell(f"archive: {target} ({files} files); 'society doctor {target}' verifies it")


@export.command("mcp")
@guarded
def mcp(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="The folder below which runs are read.")
    ] = Path("runs"),
) -> None:
    """Let a program read finished runs over stdin and stdout (Model Context Protocol).

    It lists, sums up and compares runs, reads their tables and transcripts, and explains a paper.
    Nothing is written and no model is asked.
    """
    from virsci_society.scenarios.export.mcp import serve

    serve(folder)


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
    with writing(target):
        files = write_run_figures(target, opened, within=run if out is None else None)
    tell(f"figures: {target} ({len(files)} SVG files)")
