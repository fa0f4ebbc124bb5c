"""The command ``society ctl``: pause, resume or stop a run that goes on, and change its means."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.terminal.arguments import guarded, tell, writing

if TYPE_CHECKING:
    from virsci_society.scenarios.runs.control import Control

PATIENCE = 3.0
"""Seconds for which the command waits until a run has taken over what is wanted."""
LATER = ", as soon as it simulates: now it prepares its society, or writes its results"


class Action(StrEnum):
    """What a run is told to do."""

    pause = "pause"
    resume = "resume"
    stop = "stop"


@guarded
def ctl(
    folder: Annotated[Path, typer.Argument(metavar="RUN|STUDY", help="Its folder.")],
    action: Annotated[Action | None, typer.Argument(help="What it shall do.")] = None,
    slots: Annotated[
        int | None,
        typer.Option("--slots", min=1, max=10_000, help="Calls at the same time, from now on."),
    ] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(
            "--budget", metavar="KEY=N", help="usd=N, tokens=N or calls=N; can be repeated."
        ),
    ] = None,
) -> None:
    """Pause, resume or stop a run or a study that goes on; change its slots and its budget.

    Nothing of it changes any result. A stopped run is resumed by its own command, which then
    follows its scenario again. Without an action, tell how the run is controlled now.
    """
    from virsci_society.scenarios.runs.control import read_control, study_of, write_control
    from virsci_society.society.results.folder_kinds import LOCK

    bounds = _bounds(budget or [])
    study = folder if (folder / LOCK).is_file() else study_of(folder)
    if study is not None and bounds:
        raise InputError(
            f"--budget: {study} is a study, whose runs share its budget; stop it, and "
            f"'society study run {study} --set budget.KEY=N' goes on with another one"
        )
    if study != folder:
        _require_running(folder)
    before = read_control(folder)
    if action is None and slots is None and not bounds:
        tell(f"{folder}: {_words(before)}")
        return
    control = _changed(before, action, slots, bounds)
    with writing(folder, "written to"):
        write_control(folder, control)
    if study == folder:
        tell(f"{folder}: {_words(control)}; its runs take it over within a second")
        return
    later = "" if _is_taken_over(folder, control, before) else LATER
    tell(f"{folder}: {_words(control)}{later}")


def _changed(
    before: Control, action: Action | None, slots: int | None, bounds: Mapping[str, float]
) -> Control:
    changes: dict[str, Any] = {"budget": before.budget.model_copy(update=bounds)}
    if slots is not None:
        changes["slots"] = slots
    if action is not None:
        changes |= {"paused": action == Action.pause, "stop": action == Action.stop}
    return before.model_copy(update=changes)


def _words(control: Control) -> str:
    return control.words() or "as its scenario says"


def _bounds(given: list[str]) -> dict[str, float]:
    """The bounds of ``--budget``.

    Raises:
        InputError: no bound of that name, or no such number.
    """
    from pydantic import ValidationError

    from virsci_society.agents.gateway.budget import Budget
    from virsci_society.scenarios.config.diagnostics import describe_errors, unknown_key

    pairs = dict(one.partition("=")[::2] for one in given)
    for name in pairs:
        if name not in Budget.model_fields:
            raise InputError(f"--budget: {unknown_key(name, list(Budget.model_fields))}")
    try:
        return Budget.model_validate(pairs).model_dump(exclude_none=True)
    except ValidationError as error:
        raise InputError(f"--budget {' '.join(given)}: {describe_errors(error.errors())}") from None


def _require_running(folder: Path) -> None:
    from virsci_society.agents.journal.live_view import is_being_written
    from virsci_society.scenarios.runs.run_journal import JOURNAL
    from virsci_society.scenarios.runs.run_state import FINISHED, going_on, read_state

    # None: it may go on on another machine, which shares the folder.
    if is_being_written(folder / JOURNAL) is False:
        state = read_state(folder)
        told = f"{folder}: is not going on ({state.words})"
        begun = state.session and state.state != FINISHED
        raise InputError(f"{told}; {going_on(state)}" if begun else told)


def _is_taken_over(folder: Path, control: Control, before: Control) -> bool:
    """Wait a moment for the run to take over what is wanted of it.

    Returns:
        False if it does not simulate now, and will look at it when it does.

    Raises:
        InputError: it has refused it; the file is then as it was before.
    """
    from virsci_society.scenarios.runs.control import write_control

    until = time.monotonic() + PATIENCE
    while (told := _taken_over(folder)).get("own") != control.model_dump():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    if told["refused"]:
        write_control(folder, before)
        raise InputError(f"{folder}: the run has refused it: {told['refused']}")
    return True


def _taken_over(folder: Path) -> dict[str, Any]:
    from virsci_society.agents.journal.live_view import read_notes
    from virsci_society.scenarios.runs.control import taken_over
    from virsci_society.scenarios.runs.run_journal import JOURNAL

    return taken_over(read_notes(folder / JOURNAL))
