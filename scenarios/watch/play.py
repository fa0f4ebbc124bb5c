"""A scenario in which people answer for a scientist, and the questions that they are asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from virsci_society.agents.errors import InputError
from virsci_society.agents.people.seat import Seat
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.runs.execute import default_folder
from virsci_society.scenarios.runs.preflight import held_scenario

SEAT = "seat"
"""Folder of questions and answers, in the run folder."""
OPTIONS = {"scientists": "--as", "answered_by": "--name", "time_limit": "--limit"}
"""Options of the command by the key of the backend that they set."""


def with_seats(
    scenario: Scenario,
    names: Sequence[str],
    folder: Path,
    answered_by: str | None = None,
    time_limit: float | None = None,
) -> Scenario:
    """The scenario with people in the place of some scientists.

    Args:
        scenario: checked; its backend speaks for all others.
        names: masked names, or ids of teams.
        folder: the run folder.
        answered_by: who they are, as a pseudonym; None: not stated.
        time_limit: seconds for each answer; None: no limit.

    Raises:
        InputError: its backend cannot speak for the rest, or a name or pseudonym is no such text.
    """
    speaking = scenario.backend
    try:
        seat = Seat(
            scientists=tuple(dict.fromkeys(names)),
            path=folder / SEAT,
            answered_by=answered_by,
            time_limit=time_limit,
            base=speaking.backend,
        )
    except ValidationError as error:
        raise InputError("; ".join(_fault(one) for one in error.errors())) from error
    return scenario.model_copy(update={"backend": speaking.model_copy(update={"backend": seat})})


def _fault(found: ErrorDetails) -> str:
    """A fault of the backend, with the option that it comes from."""
    key = str(found["loc"][0]) if found["loc"] else ""
    return f"{OPTIONS.get(key, 'backend')}: {found['msg'].removeprefix('Value error, ')}"


def check_folder(scenario: Scenario, folder: Path) -> None:
    """Check that a folder that holds a run holds one that the same people play.

    Else what they wrote would be asked again, or a run without them would be written over.

    Args:
        scenario: from ``with_seats``.
        folder: the run folder; may be missing.

    Raises:
        InputError: it holds another run, with what to type.
    """
    held, seat = held_scenario(folder), scenario.backend.backend
    if not held or not isinstance(seat, Seat):
        return
    backend = held.get("backend") or {}
    if backend.get("use") != "seat":
        raise InputError(
            f"{folder}: holds a run in which nobody plays; give another folder with --out"
        )
    there, name = tuple(backend.get("scientists") or ()), backend.get("answered_by")
    if set(there) == set(seat.scientists) and name == seat.answered_by:
        return
    options = [*(f"--as {one}" for one in there), *([f"--name {name}"] if name else [])]
    raise InputError(
        f"{folder}: holds a run that was begun with {' '.join(options)}; give the same, or another "
        "folder with --out"
    )


def check_names(names: Sequence[str], known: Sequence[str]) -> None:
    """Check that the scientists for whom people answer are there on day 0.

    Args:
        names: masked names, or ids of teams.
        known: masked names of the ecosystem.

    Raises:
        InputError: there is no such scientist; some who are there are named.
    """
    there = set(known)
    for name in names:
        leader, stroke, ordinal = name.partition("/")
        if leader not in there:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known[:5])}, ..."
            raise InputError(f"--as {name}: no such scientist{hint}")
        if stroke and not re.fullmatch(r"[1-9]\d*", ordinal):
            raise InputError(
                f"--as {name}: not the name of a team; the first one that {leader} leads is "
                f"{leader}/1"
            )


def folder_of_play(scenario: Scenario, names: Sequence[str]) -> Path:
    """The default run folder: that of the scenario, with who is played in its name."""
    folder = default_folder(scenario)
    who = "-".join(name.replace("/", "-") for name in names)
    return folder.with_name(f"{folder.name}-as-{who}"[:200])
