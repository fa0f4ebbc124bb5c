"""Logs: what went wrong with a run of a study, in full, in ``runs/0007.log``.

A status has one line for it; the log has what a fault of the program looked like, and how processes
ended that were killed. A run that nothing went wrong with has none.
"""

from __future__ import annotations

import signal
import traceback
from contextlib import suppress
from pathlib import Path

from agents.errors import SocietyError
from agents.secrets import redact
from scenarios.study.status import Status, folder_of


def log_file(study: Path, index: int) -> Path:
    """Where the log of a run lies."""
    return folder_of(study, index).with_suffix(".log")


def log(study: Path, index: int, text: str) -> None:
    """Add to the log of a run; a disk that is full is told of elsewhere."""
    path = log_file(study, index)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(redact(text).rstrip() + "\n")


def log_error(study: Path, index: int, error: BaseException) -> None:
    """Add an error: its message if it is one of ours, and all that is known of any other."""
    ours = isinstance(error, SocietyError)
    log(study, index, str(error) if ours else "".join(traceback.format_exception(error)))


def log_death(study: Path, index: int, code: int | None) -> None:
    """Add how the process of a run ended, by its exit code; below zero it was a signal."""
    how = f"exit code {code}"
    if code is not None and code < 0:
        with suppress(ValueError):
            how = signal.Signals(-code).name
    hint = "; so ends what takes more memory than there is" if how == "SIGKILL" else ""
    log(study, index, f"its process ended before it did: {how}{hint}")


def told(study: Path, one: Status) -> str:
    """A run that is not done, in a line: which, why, and where more is to be read."""
    place = log_file(study, one.index)
    where = f"; log: {place}" if place.is_file() else ""
    why = f": {one.reason}" if one.reason else ""
    return f"run {one.index:04d} ({one.arm}, replicate {one.replicate}) {one.state}{why}{where}"
