"""The commands ``society plan`` and ``doctor``, which are used before a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.agents.redaction import redact
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.arguments import (
    Json,
    ScenarioName,
    Seed,
    Settings,
    Trust,
    guarded,
    tell,
    tell_json,
    with_seed,
)
from virsci_society.scenarios.terminal.console import print_table


@guarded
def plan(
    scenario: ScenarioName,
    seed: Seed = None,
    set_: Settings = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Estimate calls, tokens, cost and time of a run.

    Rule-based scientists rehearse the run; no model is called and nothing is paid. The assumptions
    about the model are printed with the estimate.
    """
    from virsci_society.scenarios.config.schema import load_scenario
    from virsci_society.scenarios.planning.plan import plan as planned
    from virsci_society.scenarios.runs.preflight import check_before_run

    find_code_here(trust)
    chosen = load_scenario(scenario, settings=with_seed(set_, seed), trust=trust)
    check_before_run(chosen, keys=False)
    with make_progress() as progress:
        progress.begin("rehearsing")
        found = planned(chosen)
    if json:
        tell_json(found.to_data())
    else:
        title = f"{chosen.name}, seed {chosen.seed}: estimate of one run"
        print_table(title, ("figure", "estimate"), list(found.figures()))
        if len(found.pages):
            pages = list(found.pages.itertuples(index=False, name=None))
            print_table("tokens of a prompt", list(map(str, found.pages)), pages)
        tell(*found.notes())


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
    quick: Annotated[
        bool, typer.Option("--quick", help="Ask the model one question only.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Check the installation or the integrity of a folder.

    For a scenario with a language model, at most twenty calls are made and paid for. For a folder,
    every file and every row of its journals is compared with its hash. The runs of an archive are
    also replayed from their journals.
    """
    if Path(what).is_dir() or Path(what).suffix == ".zip":
        _verify(Path(what), trust)
        return
    from virsci_society.scenarios.config.schema import load_scenario
    from virsci_society.scenarios.planning.doctor import examine

    find_code_here(trust)
    chosen = load_scenario(what, settings=set_ or (), trust=trust)
    wrong = 0
    for finding in examine(chosen, quick=quick):
        wrong += finding.state == "problem"
        tell(f"{finding.state:8} {redact(finding.message)}")
        if finding.advice:
            tell(f"{'':8} -> {redact(finding.advice)}")
    if wrong:
        raise InputError(f"{wrong} problem{'' if wrong == 1 else 's'} found")
    tell("all is well")


def _verify(place: Path, trust: bool) -> None:
    from virsci_society.scenarios.analysis.verification import verify_folder
    from virsci_society.scenarios.export.archive import verify_archive

    if place.is_dir():
        tell(f"checking the files of {place}", err=True)
        told = verify_folder(place)
    else:
        find_code_here(trust)
        with make_progress() as progress:
            told = verify_archive(place, progress.begin, trust=trust)
    tell(*told.found)
    if told.damage:
        raise InputError("\n".join(told.damage))
