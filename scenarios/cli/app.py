"""The command ``society``, and its commands that write, check, run and fork a scenario."""

from __future__ import annotations

import gc
import os
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.agents.redaction import redact
from virsci_society.scenarios.analysis.command import compare
from virsci_society.scenarios.analysis.facts import facts
from virsci_society.scenarios.calibration.command import calibrate
from virsci_society.scenarios.cli.ecosystem import ecosystem
from virsci_society.scenarios.cli.help_examples import ExampleGroup
from virsci_society.scenarios.cli.library_list import list_
from virsci_society.scenarios.cli.overview import show, transcript
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.explorer.command import explore
from virsci_society.scenarios.export.command import export
from virsci_society.scenarios.review.command import review
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.study.command import study
from virsci_society.scenarios.terminal.console import print_table
from virsci_society.scenarios.terminal.options import (
    Json,
    RunFolder,
    ScenarioName,
    Seed,
    Settings,
    Trust,
    complete_scenario,
    find_run,
    guarded,
    tell,
    tell_json,
    with_seed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from virsci_society.scenarios.config.document import Document
    from virsci_society.scenarios.config.schema import Scenario

SCHEMA = "scenario.schema.json"
TEMPLATE = Path(__file__).with_name("new_scenario.yaml")

app = typer.Typer(
    name="society",
    help="Simulate a society of virtual scientists.",
    cls=ExampleGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: society run quickstart",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(ecosystem, name="ecosystem")
app.add_typer(study, name="study")
app.add_typer(export, name="export")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        tell(f"society {metadata.version('virsci-society')}")
        raise typer.Exit


@app.callback()
def global_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Simulate a society of virtual scientists."""


@app.command()
@guarded
def run(
    scenario: ScenarioName,
    seed: Seed = None,
    set_: Settings = None,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder.")] = None,
    trust: Trust = False,
) -> None:
    """Run a scenario, or resume a stopped run.

    The run folder is runs/SCENARIO-SEED by default. Answered calls are not repeated.
    """
    from virsci_society.scenarios.config.schema import read_scenario, scenario_document
    from virsci_society.scenarios.runs.execute import default_folder, is_finished
    from virsci_society.scenarios.runs.execute import run_scenario as execute
    from virsci_society.scenarios.runs.preflight import check_before_run, key_routes

    find_code_here(trust)
    document = scenario_document(scenario, with_seed(set_, seed))
    chosen = read_scenario(document, trust=trust)
    folder = default_folder(chosen) if out is None else out
    if is_finished(chosen, folder):
        tell(f"{folder} already contains this run; nothing to do")
    else:
        check_before_run(chosen, folder)
        for route in key_routes(chosen):
            tell(route)
        for warning in _warnings(document, chosen):
            tell(f"warning: {warning}", err=True)
        with make_progress() as progress:
            execute(chosen, folder, progress)
    tell(f"report: {folder / 'report.html'}")
    tell(f"answers: {chosen.backend.backend.about}")


@app.command()
@guarded
def replay(
    run: RunFolder,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the replayed run.")] = None,
    trust: Trust = False,
) -> None:
    """Repeat a run from its journal, without calls."""
    tell(f"reading {run}", err=True)
    from virsci_society.scenarios.runs.execute import replay as again

    find_code_here(trust)
    with make_progress() as progress:
        digest = again(run, out, progress, trust=trust)
    tell(f"replayed from the journal; digest {digest}")


@app.command()
@guarded
def fork(
    run: RunFolder,
    at: Annotated[
        str, typer.Option("--at", metavar="DATE", help="Day of the fork, such as 1y or 90d.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of the fork.")],
    set_: Settings = None,
    remove: Annotated[
        str | None,
        typer.Option(
            "--remove", metavar="RANK:N|NAMES", help="Scientists to remove: degree:10, or Hatamer."
        ),
    ] = None,
    seed: Seed = None,
    trust: Trust = False,
) -> None:
    """Branch a finished run from a given day.

    Calls before that day are not repeated. --set changes founding, protocol or time from that day
    on, --seed changes the random draws, and --remove removes scientists (by degree, papers,
    citations or random, or by name, separated by commas). Repeat the command to resume a stopped
    fork.
    """
    tell(f"reading {run}", err=True)
    from virsci_society.scenarios.runs.fork import Fork

    find_code_here(trust)
    made = Fork.of(run, at, with_seed(set_, seed), remove, trust=trust)
    with make_progress() as progress:
        past = made.run(out, progress)
    tell(f"report: {out / 'report.html'}")
    tell(
        f"shared with {run}: {past.events} events and {past.calls} calls before day {made.at:g}; "
        f"digest of the shared part {past.digest}"
    )
    tell(f"answers: {made.scenario.backend.backend.about}")


@app.command()
@guarded
def check(
    scenario: ScenarioName, seed: Seed = None, set_: Settings = None, trust: Trust = False
) -> None:
    """Check a scenario and list every error in it.

    This covers keys, team sizes, API keys and the run folder; your own prompts are rendered for the
    first team. A study is checked with all its arms. The server of a language model is only asked
    for its context window.
    """
    from virsci_society.agents.offline.backend import Offline
    from virsci_society.scenarios.calibration.parameters import counted_teams
    from virsci_society.scenarios.config.document import is_study
    from virsci_society.scenarios.config.schema import read_scenario, scenario_document
    from virsci_society.scenarios.planning.prompts import check_pages
    from virsci_society.scenarios.runs.execute import default_folder
    from virsci_society.scenarios.runs.preflight import check_before_run, key_routes

    find_code_here(trust)
    if is_study(scenario):
        from virsci_society.scenarios.study.design import check_arms, read_study

        design = read_study(scenario, with_seed(set_, seed), trust=trust)
        check_arms(design)
        tell(
            f"{design.name} is valid ({len(design.arms)} arms, {design.runs} runs); "
            f"society study plan {scenario} counts calls"
        )
        return
    document = scenario_document(scenario, with_seed(set_, seed))
    chosen = read_scenario(document, trust=trust)
    check_before_run(chosen, default_folder(chosen))
    tell(f"{chosen.name} is valid (seed {chosen.seed})")
    tell(*key_routes(chosen))
    warnings = list(_warnings(document, chosen))
    try:
        if counted := counted_teams(chosen):
            tell(counted)
    except InputError as error:
        # A check looks at keys; a run opens the folder, and refuses it where it must be refused.
        warnings.insert(0, f"teams founded a year cannot be counted: {error}")
    if pages := check_pages(chosen):
        tell(pages)
    if not isinstance(chosen.backend.backend.paid, Offline):
        # Imported here: libraries for models would slow down every other check.
        from virsci_society.scenarios.planning.doctor import context_warnings
        from virsci_society.scenarios.runs.preflight import silent_servers

        warnings += [*silent_servers(chosen), *context_warnings(chosen)]
    for warning in warnings:
        tell(f"warning: {redact(warning)}", err=True)


def _warnings(document: Document, scenario: Scenario) -> Iterator[str]:
    """Warnings about a budget that bounds nothing, and values that belong to another field."""
    from virsci_society.agents.offline.backend import Offline
    from virsci_society.scenarios.calibration.parameters import borrowed_values

    speaking = scenario.backend
    if speaking.budget != type(speaking.budget)() and isinstance(speaking.backend, Offline):
        yield "backend.budget has no effect, because rules answer"
    elif speaking.budget.usd is not None and speaking.backend.free:
        yield (
            "backend.budget.usd has no effect, because the server runs on this machine; if it "
            "forwards calls to a provider, set backend.prices"
        )
    if warning := borrowed_values(document, scenario):
        yield warning


@app.command()
@guarded
def plan(
    scenario: ScenarioName,
    seed: Seed = None,
    set_: Settings = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Estimate calls, tokens, cost and time of a run.

    Rule-based scientists rehearse the run without calling a model. Assumptions about the model are
    printed with the estimate.
    """
    tell(f"reading {scenario}", err=True)
    from virsci_society.scenarios.config.schema import load_scenario
    from virsci_society.scenarios.planning.plan import plan as planned
    from virsci_society.scenarios.runs.preflight import check_before_run

    find_code_here(trust)
    chosen = load_scenario(scenario, settings=with_seed(set_, seed), trust=trust)
    check_before_run(chosen, keys=False)
    with make_progress() as progress:
        progress.begin("rehearsing")
        estimate = planned(chosen)
    if json:
        tell_json(estimate.to_data())
    else:
        title = f"{chosen.name}, seed {chosen.seed}: estimate of one run"
        print_table(title, ("figure", "estimate"), list(estimate.figures()))
        tell(*estimate.notes())


@app.command()
@guarded
def doctor(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|FOLDER|ARCHIVE",
            help="A scenario, the folder of a run, study or ecosystem, or an archive (.zip).",
        ),
    ] = "quickstart",
    set_: Settings = None,
    trust: Trust = False,
) -> None:
    """Check the installation or the integrity of a folder.

    For a scenario with a language model, at most twenty billed calls are made. For a folder, the
    hash of every file and journal row is verified. The runs of an archive are also replayed from
    their journals.
    """
    from virsci_society.scenarios.config.document import library

    place = Path(what) if what in library() else find_run(Path(what))
    if place.is_dir() or place.suffix == ".zip":
        if place.is_dir():
            tell(f"checking the files of {place}", err=True)
            from virsci_society.scenarios.analysis.verification import verify_folder

            verified = verify_folder(place)
        else:
            from virsci_society.scenarios.export.archive import verify_archive

            find_code_here(trust)
            with make_progress() as progress:
                verified = verify_archive(place, progress.begin, trust=trust)
        tell(*verified.found)
        if verified.damage:
            raise InputError("\n".join(verified.damage))
        return
    from virsci_society.scenarios.config.schema import load_scenario
    from virsci_society.scenarios.planning.doctor import examine

    find_code_here(trust)
    chosen = load_scenario(what, settings=set_ or (), trust=trust)
    wrong = 0
    for finding in examine(chosen):
        wrong += finding.state == "problem"
        tell(f"{finding.state:8} {redact(finding.message)}")
        if finding.advice:
            tell(f"{'':8} -> {redact(finding.advice)}")
    if wrong:
        raise InputError(f"{wrong} problem{'' if wrong == 1 else 's'} found")
    tell("all checks passed")


@app.command()
@guarded
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new file.")],
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="SCENARIO",
            help="Extend this scenario (default: write out common keys).",
            autocompletion=complete_scenario,
        ),
    ] = None,
) -> None:
    """Write a commented scenario file.

    The file is valid as written. A JSON Schema of all keys is written next to it, for completion
    and validation in editors. Existing files are not overwritten.
    """
    from virsci_society.agents.files.atomic_files import make_folder, write_atomically
    from virsci_society.scenarios.config.document import SUFFIXES, find_scenario, library
    from virsci_society.scenarios.config.keys import schema_text
    from virsci_society.scenarios.config.schema import Scenario
    from virsci_society.scenarios.config.yaml_io import write_yaml

    target = Path(name) if Path(name).suffix in SUFFIXES else Path(f"{name}.yaml")
    if target.exists() or target.is_symlink():
        raise InputError(f"{target}: exists already; give another name")
    title = write_yaml({"name": target.stem})
    if from_ is None:
        text = TEMPLATE.read_text(encoding="utf-8").replace("name: NAME\n", title)
    else:
        parent = find_scenario(from_)
        above = from_ if from_ in library() else str(parent.resolve())
        text = (
            f"# {target.stem}: {from_}, with the keys below changed. What each key means:\n"
            "# docs/keys.md, or 'society list keys all'.\n"
            f"{write_yaml({'extends': above})}{title}seed: 1\n\n"
            "# For example:\n"
            "# until: 2y\n"
            "# protocol:\n"
            "#   turns: 5\n"
        )
    schema = target.with_name(SCHEMA)
    make_folder(target.parent)
    # Before the scenario, whose first line names it.
    if schema.exists() or schema.is_symlink():
        tell(f"{schema}: already exists; left unchanged")
    else:
        write_atomically(schema, schema_text(Scenario))
    write_atomically(target, f"# yaml-language-server: $schema={SCHEMA}\n{text}")
    tell(f"wrote {target}; edit it, then run")
    tell(f"  society check {target}")
    tell(f"  society run {target}")


for _command in (compare, facts, review, calibrate, explore, show, transcript):
    app.command()(_command)
app.command("list")(list_)


def main() -> None:
    """Run the command; ``virsci_society.main`` has checked the installed packages before."""
    # Imports allocate much that lives to the end: full collections find nothing in it.
    gc.set_threshold(50_000, 50, 10)
    # Before NumPy is loaded: further threads would mostly wait for work, and that takes processors.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        app()
    except Exception:
        # A bug keeps its traceback, but API keys are redacted.
        tell(*redact(traceback.format_exc()).split("\n"), err=True)
        raise SystemExit(1) from None
