"""The commands that show or export a finished run: ``society explore`` and ``society export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agents.errors import InputError, SocietyError
from scenarios.cli.common import RunFolder, Trust, guarded
from scenarios.config.registry import find_code_here

Prompts = Annotated[
    bool | None,
    typer.Option(
        "--prompts/--no-prompts",
        help="With what was asked in each call (default: up to 10,000 calls). The run is gone "
        "through again from its journal; nothing is asked.",
    ),
]

export = typer.Typer(help="Export a run for other programs.", no_args_is_help=True)


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
    """Write a page to explore a run by: network over time, teams, all that was said, search.

    Two runs are shown side by side, with the day on which they part.
    """
    from metrics.explorer.page import FILE, write_explorer
    from scenarios.analysis.prompt_book import read_prompts
    from scenarios.cli.console import partial_note
    from society.results.run import Run, resolve_run_folder

    find_code_here(trust)
    folders = [run] if other is None else [run, other]
    runs = [Run.open(resolve_run_folder(folder)) for folder in folders]
    for opened in runs:
        if partial_note(opened):
            typer.echo(partial_note(opened), err=True)
    books = [
        read_prompts(folder, len(opened.table("calls")), prompts, trust=trust)
        for folder, opened in zip(folders, runs, strict=True)
    ]
    target = run / FILE if out is None else out
    if target.is_dir():
        target = target / FILE
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        made = write_explorer(target, runs, books)
    except OSError as error:
        raise SocietyError(f"{target}: cannot be written: {error.strerror}") from error
    typer.echo(f"explorer: {target} ({target.stat().st_size / 1e6:.2f} MB)")
    for sentence in made.left_out:
        typer.echo(f"left out: {sentence}")
    if other is not None:
        day = made.parted
        typer.echo("the runs do not differ" if day is None else f"the runs part on day {day:g}")


@export.command("otel")
@guarded
def otel(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file (default RUN/traces.json).")
    ] = None,
    team: Annotated[
        str | None, typer.Option("--team", help="One team only, such as Scientist12/1.")
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="With prompts and replies as attributes.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Write run, teams, stages and calls as OpenTelemetry spans (OTLP JSON, GenAI conventions)."""
    from agents.journal.journal import Journal
    from metrics.traces.otlp import write_traces
    from scenarios.analysis.prompt_book import read_prompts
    from scenarios.runs.run_journal import JOURNAL
    from society.results.run import Run, resolve_run_folder

    find_code_here(trust)
    opened = Run.open(resolve_run_folder(run))
    if team is not None and team not in set(opened.table("teams")["team"]):
        raise InputError(f"--team: the run has no team {team}")
    attempts = []
    if (run / JOURNAL).is_file():
        with Journal.open(run / JOURNAL, frozen=True) as journal:
            attempts = list(journal.attempts())
    book = read_prompts(run, len(opened.table("calls")), words or False, trust=trust)
    target = run / "traces.json" if out is None else out
    try:
        spans = write_traces(target, opened, attempts, team=team, words=words, book=book)
    except OSError as error:
        raise SocietyError(f"{target}: cannot be written: {error.strerror}") from error
    typer.echo(f"traces: {target} ({spans:,} spans; their dates are simulated)")


@export.command("dataset")
@guarded
def dataset(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder (default RUN/dataset).")
    ] = None,
) -> None:
    """Write abstracts, ideas, votes and reviews as Parquet, with a datasheet and Croissant file.

    Every row says that it is machine-generated and by which model or rules.
    """
    from metrics.dataset.dataset import write_dataset
    from society.results.run import Run, resolve_run_folder

    opened = Run.open(resolve_run_folder(run))
    target = run / "dataset" if out is None else out
    try:
        rows = write_dataset(target, opened)
    except OSError as error:
        raise SocietyError(f"{target}: cannot be written: {error.strerror}") from error
    counted = ", ".join(f"{count:,} {name}" for name, count in rows.items())
    typer.echo(f"dataset: {target} ({counted})")
