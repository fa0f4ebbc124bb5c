"""The command ``society prompts``, which writes every prompt to be read before money is spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.terminal.arguments import Seed, Settings, Trust, guarded, with_seed

if TYPE_CHECKING:
    from virsci_society.scenarios.config.schema import Scenario


@guarded
def prompts(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO|RUN", help="A scenario, or a finished run.")
    ],
    seed: Seed = None,
    set_: Settings = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder (default prompts/SCENARIO-SEED).")
    ] = None,
    team: Annotated[
        str | None, typer.Option("--team", metavar="ID", help="This team only.")
    ] = None,
    teams: Annotated[
        int | None, typer.Option("--teams", metavar="N", min=1, help="The first N teams only.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Write every prompt as its reader sees it: one file a call, with tokens, and an index.

    Rule-based scientists rehearse a scenario; no model is asked and nothing is paid. Of a finished
    run, the prompts are those that were sent and the replies those that came.
    """
    from virsci_society.scenarios.planning.prompt_pages import (
        HEADS,
        files_of_earlier_listing,
        totals,
        whose_words,
        write_pages,
    )
    from virsci_society.scenarios.planning.prompt_recording import (
        TeamChoice,
        rehearse_pages,
        replay_pages,
    )
    from virsci_society.scenarios.runs.progress import make_progress
    from virsci_society.scenarios.terminal.console import print_table

    if team is not None and teams is not None:
        raise InputError("--team and --teams are both given; give one of them")
    find_code_here(trust)
    source, folder = _source(scenario, with_seed(set_, seed), trust=trust)
    folder = folder if out is None else out
    # Before the rehearsal, which may take a while.
    files_of_earlier_listing(folder)
    choice = TeamChoice(team, teams)
    with make_progress() as progress:
        if isinstance(source, Path):
            progress.begin("replaying from the journal alone")
            listing = replay_pages(source, choice, trust=trust)
        else:
            progress.begin("rehearsing")
            listing = rehearse_pages(source, choice)
    calls = write_pages(listing, folder)
    for head, sums in totals(calls).items():
        rows = [
            (name, one.calls, one.prompt, one.system, one.schema, one.reply)
            for name, one in sums.items()
        ]
        print_table(f"tokens by {head}", (head, *HEADS), rows)
    typer.echo(f"{len(calls):,} prompts: {folder / 'index.html'}")
    typer.echo(whose_words(listing))


def _source(scenario: str, settings: list[str], *, trust: bool) -> tuple[Scenario | Path, Path]:
    """The scenario or the run folder, and the folder in which its prompts are written by default.

    Raises:
        InputError: no such scenario, or settings for a run.
    """
    from virsci_society.scenarios.config.schema import load_scenario
    from virsci_society.scenarios.planning.prompt_recording import is_run
    from virsci_society.scenarios.runs.execute import default_folder

    run = Path(scenario)
    if is_run(run):
        if settings:
            raise InputError("--set and --seed change a scenario, and this is a run")
        return run, Path("prompts") / run.resolve().name
    chosen = load_scenario(scenario, settings=settings, trust=trust)
    return chosen, Path("prompts") / default_folder(chosen).name
