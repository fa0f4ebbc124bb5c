"""A scenario in which people answer for a scientist, and the questions that they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.backends.seat import Seat
from agents.errors import InputError
from agents.spelling import did_you_mean
from scenarios.config.schema import Scenario
from scenarios.runs.execute import default_folder

SEAT = "seat"
"""Folder of questions and answers, in the run folder."""


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
    except ValueError as error:
        faults: list[dict[str, object]] = getattr(error, "errors", list)()
        told = "; ".join(str(one["msg"]) for one in faults) or str(error)
        raise InputError(f"society play: {told}") from error
    return scenario.model_copy(update={"backend": speaking.model_copy(update={"backend": seat})})


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
        if name.partition("/")[0] not in there:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known[:5])}, ..."
            raise InputError(f"--as {name}: no such scientist{hint}")


def folder_of_play(scenario: Scenario, names: Sequence[str]) -> Path:
    """The default run folder: that of the scenario, with who is played in its name."""
    folder = default_folder(scenario)
    who = "-".join(name.replace("/", "-") for name in names)
    return folder.with_name(f"{folder.name}-as-{who}"[:200])
