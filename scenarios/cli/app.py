"""The command ``society``: its subcommands, and those that run, fork, replay and show a run.

Only typer and light modules are imported at the top: ``society --help`` must not be a wait.
"""

from __future__ import annotations

import gc
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.agents.redaction import redact
from virsci_society.scenarios.analysis.command import compare
from virsci_society.scenarios.analysis.facts import facts
from virsci_society.scenarios.calibration.command import calibrate
from virsci_society.scenarios.cli.checkup import doctor, plan, prompts
from virsci_society.scenarios.cli.ecosystem import ecosystem
from virsci_society.scenarios.cli.help_examples import ExampleGroup
from virsci_society.scenarios.cli.library_list import list_
from virsci_society.scenarios.cli.new_scenario import new
from virsci_society.scenarios.cli.overview import show, transcript
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.explorer.command import explore
from virsci_society.scenarios.export.command import export
from virsci_society.scenarios.review.command import review
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.study.command import study
from virsci_society.scenarios.terminal.arguments import (
    Online,
    RunFolder,
    ScenarioName,
    Seed,
    Settings,
    Trust,
    guarded,
    open_in_browser,
    tell,
    with_seed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from virsci_society.scenarios.config.document import Document
    from virsci_society.scenarios.config.schema import Scenario


@guarded
def fork(
    run: RunFolder,
    at: Annotated[str, typer.Option("--at", metavar="DATE", help="The day, such as 1y or 90d.")],
    out: Annotated[Path, typer.Option("--out", help="The folder of the fork.")],
    set_: Settings = None,
    remove: Annotated[
        str | None,
        typer.Option("--remove", metavar="RANK:N|NAMES", help="Who leaves: degree:10, or Hatamer."),
    ] = None,
    seed: Seed = None,
    trust: Trust = False,
) -> None:
    """Branch a finished run from a given day; calls before that day are not paid for again.

    --set changes founding, protocol or time from that day on, --seed changes the random draws, and
    --remove removes scientists (by degree, papers, citations or random, or by name, separated by
    commas). Run the same command again to resume a stopped fork.
    """
    from virsci_society.scenarios.runs.fork import Fork

    find_code_here(trust)
    made = Fork.of(run, at, with_seed(set_, seed), remove, trust=trust)
    with make_progress() as progress:
        past = made.run(out, progress)
    if shortage := made.shortage(out):
        tell(f"--remove {remove}: {shortage}")
    tell(f"report: {out / 'report.html'}")
    tell(
        f"shared with {run}: {past.events} events and {past.calls} calls before day {made.at:g}; "
        f"digest of that past {past.digest}"
    )
    tell(f"who spoke: {made.scenario.backend.backend.about}")


app = typer.Typer(
    name="society",
    help="Simulate a society of virtual scientists.",
    cls=ExampleGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(ecosystem, name="ecosystem")
app.add_typer(study, name="study")
export.command()(prompts)
app.add_typer(export, name="export")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        tell(f"society {metadata.version('virsci-society')}")
        raise typer.Exit


def _open_docs(wanted: bool) -> None:
    """Open the documentation that stands beside this source, or say where there is one."""
    if wanted:
        docs = Path(__file__).resolve().parents[2] / "docs"
        site, pages = docs / "_build" / "html" / "index.html", docs / "README.md"
        if site.is_file():
            open_in_browser(site)
        elif pages.is_file():
            tell(f"{pages}: the pages as text; 'make docs' makes a site of them")
        else:
            tell("the pages are in the folder docs/ of the source; 'make docs' there makes a site")
        raise typer.Exit


@app.callback()
def global_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    docs: Annotated[
        bool,
        typer.Option("--docs", callback=_open_docs, is_eager=True, help="Open the documentation."),
    ] = False,
) -> None:
    """Simulate a society of virtual scientists."""


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
    online: Online = False,
    replicates: Annotated[int | None, typer.Option("--replicates", hidden=True)] = None,
) -> None:
    """Run a scenario and write its run folder (default runs/SCENARIO-SEED).

    The same command resumes a run that was stopped: no call that was answered is made again.
    """
    if replicates is not None:
        raise InputError(
            f"--replicates: a run has one seed; 'society study new NAME --base {scenario}' writes "
            f"a study, and 'society study run NAME.yaml --set replicates={replicates}' runs it"
        )
    from virsci_society.scenarios.config.schema import read_scenario, scenario_document
    from virsci_society.scenarios.runs.execute import default_folder, is_finished
    from virsci_society.scenarios.runs.execute import run_scenario as execute
    from virsci_society.scenarios.runs.preflight import check_before_run, key_routes

    find_code_here(trust)
    document = scenario_document(scenario, with_seed(set_, seed))
    chosen = read_scenario(document, trust=trust)
    folder = default_folder(chosen) if out is None else out
    if is_finished(chosen, folder):
        tell(f"{folder} holds this run already; nothing to do")
    else:
        check_before_run(chosen, folder, online=online)
        for route in key_routes(chosen):
            tell(route)
        _warn(document, chosen)
        with make_progress() as progress:
            execute(chosen, folder, progress, fork=fork)
    tell(f"report: {folder / 'report.html'}")
    tell(f"who spoke: {chosen.backend.backend.about}")


@app.command()
@guarded
def replay(
    run: RunFolder,
    out: Annotated[Path | None, typer.Option("--out", help="Write the replayed run.")] = None,
    trust: Trust = False,
) -> None:
    """Repeat a finished run from its journal, without live calls."""
    from virsci_society.scenarios.runs.execute import replay as again

    find_code_here(trust)
    with make_progress() as progress:
        digest = again(run, out, progress, trust=trust)
    tell(f"replayed from the journal alone; digest {digest}")


@app.command()
@guarded
def check(
    scenario: ScenarioName,
    seed: Seed = None,
    set_: Settings = None,
    trust: Trust = False,
    online: Online = False,
) -> None:
    """Check a scenario or a study without running it; name every fault at once.

    Of a scenario, also looked at are the size of teams, the variables of keys, and the folder that
    a run of it would write to. Pages from outside the project are rendered with what the first
    team's questions give.

    Of a language model, its server is asked how long prompts it can read, and nothing else. A
    server on this machine that does not answer is a warning; any server, with --online, a fault.
    """
    from virsci_society.scenarios.config.document import is_study
    from virsci_society.scenarios.config.schema import read_scenario, scenario_document
    from virsci_society.scenarios.planning.prompt_recording import check_pages
    from virsci_society.scenarios.runs.execute import default_folder
    from virsci_society.scenarios.runs.preflight import check_before_run, key_routes

    find_code_here(trust)
    if is_study(scenario):
        _check_study(scenario, with_seed(set_, seed), trust)
        return
    document = scenario_document(scenario, with_seed(set_, seed))
    chosen = read_scenario(document, trust=trust)
    check_before_run(chosen, default_folder(chosen), online=online)
    tell(f"{chosen.name}: every key is right (seed {chosen.seed})")
    for route in key_routes(chosen):
        tell(route)
    _tell_counted_teams(chosen)
    _warn(document, chosen)
    if pages := check_pages(chosen):
        tell(pages)
    for warning in _warnings_of_models(chosen):
        tell(f"warning: {redact(warning)}", err=True)


def _warnings_of_models(scenario: Scenario) -> Iterator[str]:
    """What a run may suffer from its model: no answer, prompts that are too long."""
    from virsci_society.agents.offline.backend import Offline

    if isinstance(scenario.backend.backend.paid, Offline):
        return
    # Imported here: libraries for models would slow down every other check.
    from virsci_society.scenarios.planning.context_check import context_warnings
    from virsci_society.scenarios.runs.preflight import silent_servers

    yield from silent_servers(scenario, local=True)
    yield from context_warnings(scenario)


def _check_study(study: str, settings: list[str], trust: bool) -> None:
    from virsci_society.scenarios.study.design import check_arms, read_study

    design = read_study(study, settings, trust=trust)
    check_arms(design)
    tell(
        f"{design.name}: every key is right ({len(design.arms)} arms, {design.runs} runs); "
        f"society study plan {study} counts calls"
    )


def _tell_counted_teams(scenario: Scenario) -> None:
    from virsci_society.scenarios.calibration.parameters import counted_teams

    try:
        told = counted_teams(scenario)
    except InputError as error:
        # A check looks at keys; the folder is opened, and refused where it must be, by a run.
        tell(f"warning: teams founded a year cannot be counted: {error}", err=True)
        return
    if told is not None:
        tell(told)


def _warn(document: Document, scenario: Scenario) -> None:
    """Tell of values of another field, and of a budget that bounds nothing."""
    from virsci_society.agents.offline.backend import Offline
    from virsci_society.scenarios.calibration.parameters import borrowed_values

    speaking = scenario.backend
    if speaking.budget != type(speaking.budget)() and isinstance(speaking.backend, Offline):
        tell("warning: backend.budget bounds nothing here, because rules answer", err=True)
    elif speaking.budget.usd is not None and speaking.backend.free:
        tell(
            "warning: backend.budget.usd bounds nothing here, because the server is on this "
            "machine; if it passes calls on to a provider, give backend.prices",
            err=True,
        )

    if warning := borrowed_values(document, scenario):
        tell(f"warning: {warning}", err=True)


app.command("fork")(fork)
app.command()(compare)
app.command()(facts)
app.command()(plan)
app.command()(doctor)
app.command()(review)
app.command()(calibrate)
app.command()(explore)


app.command("list")(list_)
app.command()(new)
app.command()(show)
app.command()(transcript)


def main() -> None:
    """Run the command; ``virsci_society.main`` has checked the installed packages before."""
    # Imports allocate much that lives to the end: full collections find nothing in it.
    gc.set_threshold(10_000, 10, 10)
    try:
        app()
    except Exception:
        # A fault of the program keeps its traceback, but no key that stands in it.
        tell(*redact(traceback.format_exc()).split("\n"), err=True)
        raise SystemExit(1) from None
