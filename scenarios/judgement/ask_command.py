"""The command ``society ask``, which interviews scientists of a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.terminal.arguments import RunFolder, Settings, Trust, guarded

if TYPE_CHECKING:
    from virsci_society.scenarios.judgement.interview import Interview


@guarded
def ask(
    run: RunFolder,
    form: Annotated[
        Path, typer.Option("--form", metavar="FILE", help="The survey, a YAML file (docs/ask.md).")
    ],
    at: Annotated[
        str | None, typer.Option("--at", metavar="DATE", help="1y or 90d; the end by default.")
    ] = None,
    who: Annotated[
        str,
        typer.Option(
            "--who",
            metavar="WHO",
            help="degree:N, papers:N, citations:N, random:N, all, or names with commas.",
        ),
    ] = "all",
    set_: Settings = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the answers; beside RUN by default.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Of arms, words and random choice; RUN's by default."),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only tell the calls and tokens; nothing is asked.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Put a survey to scientists of a finished run at a date; the run stays as it is.

    Each is told its profile, papers, co-authors and teams as of the date. --set backend.KEY=VALUE
    chooses who answers; by default whatever spoke in the run. The same command goes on with a
    survey that was stopped: no question is paid twice.
    """
    from virsci_society.scenarios.judgement.interview import Interview
    from virsci_society.scenarios.runs.progress import make_progress

    find_code_here(trust)
    with make_progress() as progress:
        made = Interview.of(
            run,
            form,
            at,
            who,
            set_ or (),
            seed=seed,
            out=out,
            trust=trust,
            progress=progress,
        )
        if not plan and not made.done:
            progress.begin("interviewing")
            made.execute(progress.wait)
    if plan:
        _print_plan(made)
    else:
        _show(made)


def _print_plan(made: Interview) -> None:
    from virsci_society.scenarios.planning.question_cost import question_cost
    from virsci_society.scenarios.terminal.plan_tables import print_question_cost

    asked = f"{len(made.respondents)} scientists x {len(made.survey.questions)} questions"
    cost = question_cost(made.scenario, made.rehearse)
    print_question_cost(f"{made.survey.title}: {asked}", made.about, cost)


def _show(made: Interview) -> None:
    import pandas as pd

    from virsci_society.scenarios.judgement.interview import ANSWERS
    from virsci_society.scenarios.judgement.interviews.answers import summary_rows
    from virsci_society.scenarios.terminal.console import print_table

    path = made.folder / f"{ANSWERS}.csv"
    rows = summary_rows(made.survey, pd.read_csv(path, keep_default_na=False))
    title = f"{made.survey.title}: {len(made.respondents)} scientists on day {made.day:g}"
    print_table(title, ("question", "arm", "answer", "n", "of them"), rows)
    typer.echo(f"answers: {path}")
    typer.echo(f"who spoke: {made.about}")
