"""Status: how one run of a study stands, in one short file beside its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from agents.errors import BudgetReached, Diverged, InputError, Stopped

State = Literal["waiting", "running", "done", "failed", "stopped", "quarantined"]
STATES: tuple[State, ...] = ("waiting", "running", "done", "failed", "stopped", "quarantined")
ENDED = ("done", "quarantined")
"""What the same command does not begin again."""
PARTIAL = 3
"""Exit code: some runs failed, and all others are done."""


@dataclass(frozen=True)
class Status:
    """How one run stands.

    Attributes:
        index: of the run; arm * replicates + replicate.
        arm: its name.
        replicate: from 0.
        seed: of the run.
        state: ``stopped`` runs are gone on with by the same command, ``failed`` ones tried again.
        reason: why it is not done.
        code: exit code of that reason; 0 where there is none.
        deaths: how often it has killed its process in a row.
        calls: answers that its journal holds.
        tokens: spent.
        usd: spent, in US dollars.
        digest: of what happened; empty where it is not done.
    """

    index: int
    arm: str
    replicate: int
    seed: int
    state: State = "waiting"
    reason: str = ""
    code: int = 0
    deaths: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    digest: str = ""

    def to_data(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Status:
        """What ``to_data`` gave.

        Raises:
            InputError: it is something else.
        """
        try:
            made = cls(**data)
        except TypeError as error:
            raise InputError(f"not the status of a run: {error}") from error
        if made.state not in STATES:
            raise InputError(f"not the status of a run: state {made.state!r}")
        return made


def folder_of(study: Path, index: int) -> Path:
    """The run folder of an index."""
    return study / "runs" / f"{index:04d}"


def status_file(study: Path, index: int) -> Path:
    """Where the status of a run lies."""
    return study / "runs" / f"{index:04d}.status.json"


def read_status(study: Path, index: int) -> Status | None:
    """The status of a run; None if it was never begun.

    Raises:
        InputError: its file is damaged.
    """
    path = status_file(study, index)
    try:
        return Status.from_data(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, TypeError, InputError) as error:
        raise InputError(f"{path}: cannot be read ({error}); delete it, and run again") from error


def write_status(study: Path, status: Status) -> None:
    """Write it, whole or not at all.

    Raises:
        Stopped: it cannot be written.
    """
    write_text(status_file(study, status.index), json.dumps(status.to_data()) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file of a study, whole or not at all, whoever else writes the same one.

    Raises:
        Stopped: it cannot be written.
    """
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        raise Stopped(f"{path}: cannot be written: {error.strerror}") from error


def exit_code(statuses: Iterable[Status]) -> int:
    """The exit code of a study: 0 all done, 5 or 4 to be gone on with, 3 some have failed."""
    found = list(statuses)
    open_ones = [one for one in found if one.state in ("waiting", "running", "stopped")]
    if any(one.code != BudgetReached.exit_code for one in open_ones):
        return Stopped.exit_code
    if open_ones:
        return BudgetReached.exit_code
    return PARTIAL if any(one.state != "done" for one in found) else 0


def code_of(error: BaseException) -> int:
    """The exit code an error stands for; 1 for a fault of the program."""
    known = (InputError, Stopped, Diverged)
    return error.exit_code if isinstance(error, known) else 1
