"""The commands ``society plan`` and ``society doctor``: what a run takes, and whether it can."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agents.errors import BudgetReached, InputError
from agents.secrets import redact
from scenarios.arguments import Json, ScenarioName, Seed, Settings, Trust, find_code_here, with_seed
from scenarios.guard import guarded

if TYPE_CHECKING:
    from scenarios.lessons import Record
    from scenarios.schema import Scenario


@guarded
def plan(
    scenario: ScenarioName,
    seed: Seed = None,
    set_: Settings = None,
    learn: Annotated[
        Path | None,
        typer.Option("--learn", metavar="RUN", help="Learn rates from the calls of a run."),
    ] = None,
    probe: Annotated[
        int | None,
        typer.Option(
            "--probe",
            metavar="N",
            min=1,
            help="Make the first N calls of this run with its model (50 are enough), and learn.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The run folder, for --probe.")] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Tell what a run will take: calls, tokens, money and time.

    Rule-based scientists rehearse it; no model is asked and nothing is paid, except with --probe,
    whose calls the run then takes from its folder.
    """
    from scenarios.lessons import Record
    from scenarios.plan import plan as planned
    from scenarios.plan import rates_for
    from scenarios.progress import shown_progress
    from scenarios.schema import load_scenario

    if learn is not None and probe is not None:
        raise InputError("--learn and --probe are both given; rates come from one of them")
    find_code_here(trust)
    chosen = load_scenario(scenario, settings=with_seed(set_, seed), trust=trust)
    record = None if learn is None else Record(learn, trust=trust)
    if probe is not None:
        record = probed(chosen, probe, out, trust=trust)
    with shown_progress() as progress:
        progress.begin("rehearsing")
        found = planned(chosen, rates_for(chosen, record), record)
    if json:
        from json import dumps

        typer.echo(dumps(found.to_data(), indent=2))
    else:
        from scenarios.plan_table import print_plan

        print_plan(found)


def probed(scenario: Scenario, calls: int, out: Path | None, *, trust: bool = False) -> Record:
    """Make the first calls of a run in its folder, so that the run need not make them again.

    Raises:
        InputError: the scenario's scientists follow rules: there is nothing to be learnt.
        Stopped: the model cannot be reached, or a smaller budget has been reached before.
    """
    from agents.offline.scientist import Offline
    from scenarios.execute import default_folder, run
    from scenarios.lessons import Record
    from scenarios.progress import shown_progress

    speaking = scenario.backend
    if isinstance(speaking.backend, Offline):
        raise InputError(
            "--probe: the scenario's scientists follow rules and need no probing; name a model "
            "with --set backend.use=litellm --set backend.model=NAME"
        )
    folder = default_folder(scenario) if out is None else out
    most = min(calls, speaking.budget.calls or calls)
    budget = speaking.budget.model_copy(update={"calls": most})
    bounded = speaking.model_copy(update={"budget": budget})
    try:
        with shown_progress() as progress:
            run(scenario.model_copy(update={"backend": bounded}), folder, progress)
    except BudgetReached:
        pass
    return Record(folder, trust=trust)


@guarded
def doctor(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A name or a file.")
    ] = "quickstart",
    set_: Settings = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Ask the model one question only.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Look whether everything is there that a run needs, the model included.

    A language model is asked at most some twenty questions, which are paid for.
    """
    from scenarios.complaints import printable
    from scenarios.doctor import examine
    from scenarios.schema import load_scenario

    find_code_here(trust)
    chosen = load_scenario(scenario, settings=set_ or (), trust=trust)
    wrong = 0
    for finding in examine(chosen, quick=quick):
        wrong += finding.state == "problem"
        typer.echo(f"{finding.state:8} {printable(redact(finding.what))}")
        if finding.todo:
            typer.echo(f"{'':8} -> {printable(redact(finding.todo))}")
    if wrong:
        raise InputError(f"{wrong} {'thing has' if wrong == 1 else 'things have'} to be changed")
    typer.echo("all is well")
