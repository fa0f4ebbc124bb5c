"""The command ``society``. It reads arguments and prints; everything else is done elsewhere.

Only typer is imported at the top: ``society --help`` must not be a wait.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Annotated

import typer

from agents.errors import SocietyError
from agents.secrets import redact
from scenarios.arguments import (
    Json,
    RunFolder,
    ScenarioName,
    Seed,
    Settings,
    Trust,
    find_code_here,
    with_seed,
)
from scenarios.checkup_commands import doctor, plan
from scenarios.compare_commands import compare
from scenarios.ecosystem_commands import ecosystem
from scenarios.fork_commands import fork as fork_
from scenarios.guard import guarded
from scenarios.house import check_packages
from scenarios.measure_commands import measure
from scenarios.rating_commands import rate
from scenarios.review_commands import review
from scenarios.study_commands import study

app = typer.Typer(
    name="society",
    help="Simulate a society of virtual scientists.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(ecosystem, name="ecosystem")
app.add_typer(study, name="study")
app.add_typer(rate, name="rate")


@app.command()
@guarded
def run(
    scenario: ScenarioName,
    seed: Seed = None,
    set_: Settings = None,
    out: Annotated[Path | None, typer.Option("--out", help="The run folder.")] = None,
    fork: Annotated[
        Path | None,
        typer.Option("--fork", metavar="RUN", help="Take from RUN the calls that are the same."),
    ] = None,
    trust: Trust = False,
) -> None:
    """Run a scenario and write its run folder (default runs/SCENARIO-SEED).

    The same command goes on with a run that was stopped: no call that was answered is made again.
    """
    from scenarios.execute import default_folder, is_finished
    from scenarios.execute import run as execute
    from scenarios.progress import shown_progress
    from scenarios.schema import load_scenario

    find_code_here(trust)
    chosen = load_scenario(scenario, settings=with_seed(set_, seed), trust=trust)
    folder = default_folder(chosen) if out is None else out
    if is_finished(chosen, folder):
        typer.echo(f"{folder} holds this run already; nothing to do")
    else:
        with shown_progress() as progress:
            execute(chosen, folder, progress, fork=fork)
    typer.echo(f"report: {folder / 'report.html'}")
    typer.echo(f"who spoke: {chosen.backend.backend.about}")


@app.command()
@guarded
def replay(
    run: RunFolder,
    out: Annotated[Path | None, typer.Option("--out", help="Write the replayed run.")] = None,
    trust: Trust = False,
) -> None:
    """Go through a finished run again from its journal, without a live call."""
    from scenarios.execute import replay as again
    from scenarios.progress import shown_progress

    find_code_here(trust)
    with shown_progress() as progress:
        digest = again(run, out, progress, trust=trust)
    typer.echo(f"replayed from the journal alone; digest {digest}")


@app.command()
@guarded
def check(
    scenario: ScenarioName, seed: Seed = None, set_: Settings = None, trust: Trust = False
) -> None:
    """Check a scenario without running it; name every fault at once."""
    from scenarios.ecosystems import Folder
    from scenarios.pace import slow_windows
    from scenarios.schema import load_scenario

    find_code_here(trust)
    chosen = load_scenario(scenario, settings=with_seed(set_, seed), trust=trust)
    source = chosen.population.ecosystem
    if isinstance(source, Folder):
        source.require()
    typer.echo(f"{chosen.name}: every key is right (seed {chosen.seed})")
    for warning in slow_windows(chosen):
        typer.echo(f"warning: {warning}", err=True)


app.command("fork")(fork_)
app.command()(compare)
app.command()(plan)
app.command()(doctor)
app.command()(review)
app.command()(measure)


@app.command("list")
@guarded
def list_() -> None:
    """List the scenarios of the library."""
    from scenarios.document import library

    found = library()
    width = max(len(name) for name in found)
    for name, path in found.items():
        typer.echo(f"{name:{width}}  {_first_comment(path)}")


@app.command()
@guarded
def show(run: RunFolder, json: Json = False) -> None:
    """Show what happened in a run, or in the part of it that there is."""
    from metrics.summary import summary
    from scenarios.overview import partly, print_overview
    from society.run import Run, readable

    opened = Run.open(readable(run))
    told = summary(opened)
    if partly(opened):
        typer.echo(partly(opened), err=True)
    if json:
        from json import dumps

        typer.echo(dumps(told, indent=2))
    else:
        print_overview(told)


@app.command()
@guarded
def report(run: RunFolder) -> None:
    """Write the page of a run again, or of the part of it that there is."""
    from metrics.report.page import write_page
    from scenarios.overview import partly
    from society.run import Run, readable

    folder = readable(run)
    opened = Run.open(folder)
    if partly(opened):
        typer.echo(partly(opened), err=True)
    try:
        typer.echo(f"report: {write_page(opened, folder)}")
    except OSError as error:
        raise SocietyError(f"{run}: cannot be written to: {error.strerror}") from error


@app.command()
@guarded
def schema(
    markdown: Annotated[bool, typer.Option("--markdown", help="A page for people.")] = False,
) -> None:
    """Print every key of a scenario file: JSON Schema for editors, or Markdown."""
    from scenarios.schema import Scenario

    if markdown:
        from scenarios.pages import document

        typer.echo(document(Scenario), nl=False)
    else:
        from json import dumps

        from scenarios.keys import json_schema

        typer.echo(dumps(json_schema(Scenario), indent=2))


def _first_comment(path: Path) -> str:
    """The first sentence of a scenario's head."""
    with path.open(encoding="utf-8") as lines:
        head = [line[1:].strip() for line in lines if line.startswith("#")]
    words = " ".join(head).split(". ")[0].rstrip(".")
    return words.split(": ")[0] if len(words) > 100 else words


def main() -> None:
    """Entry point of the command."""
    try:
        check_packages()
    except SocietyError as error:
        typer.echo(str(error), err=True)
        raise SystemExit(error.exit_code) from None
    try:
        app()
    except Exception:
        # A fault of the program keeps its traceback, but no key that stands in it.
        typer.echo(redact(traceback.format_exc()), err=True)
        raise SystemExit(1) from None
