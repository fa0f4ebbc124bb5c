"""Worker: a process that does runs of a study for the process that has started it.

Numbers of runs come in over a pipe, short statuses go out, as text: nothing else crosses. When the
pipe breaks, the study's process is gone, and the runs are stopped.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from agents.errors import SocietyError, Stopped
from scenarios.study.crew import Crew
from scenarios.study.leases import stop_all
from scenarios.study.status import Status

LOOK = 0.2
"""Seconds between two looks at whether a signal has come."""
STOP = -1
"""In place of a run's number: stop those that are under way."""


class Signalled:
    """Notes SIGINT and SIGTERM within its block; a second one ends the process at once.

    Attributes:
        reason: why the runs are to stop; None while no signal has come.
    """

    def __init__(self) -> None:
        self.reason: Stopped | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signalled:
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._notice)
        except ValueError:
            pass  # not on the main thread: signals are somebody else's there
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _notice(self, number: int, _: object) -> None:
        if self.reason is not None:
            os._exit(Stopped.exit_code)
        self.reason = Stopped(f"interrupted by {signal.Signals(number).name}")


def serve(pipe: Connection, study: str, together: int, options: dict[str, Any]) -> None:
    """Do runs until the pipe is closed.

    Args:
        pipe: run numbers in, JSON out: ``{"status": ...}``, ``{"dropped": index}`` or
            ``{"error": text}``.
        study: its folder.
        together: most runs at a time.
        options: of ``run_one``.
    """
    if options.get("trust"):
        from scenarios.arguments import find_code_here

        find_code_here(True)
    with Signalled() as signalled, Crew(Path(study), together, **options) as crew:
        threading.Thread(target=_hear, args=(pipe, crew.ends), daemon=True).start()
        _serve(pipe, crew, signalled, Path(study))


def _serve(pipe: Connection, crew: Crew, signalled: Signalled, study: Path) -> None:
    under_way, closed = 0, False
    while under_way or not closed:
        if signalled.reason is not None:
            under_way -= _drop(pipe, crew)
            stop_all(signalled.reason, study)
        try:
            item = crew.ends.get(timeout=LOOK)
        except Empty:
            continue
        if item is None or item == STOP:
            closed = closed or item is None
            signalled.reason = signalled.reason or Stopped("the study was stopped")
        elif isinstance(item, int):
            under_way += 1
            crew.give([item])
        else:
            under_way -= 1
            _tell(pipe, item)


def _drop(pipe: Connection, crew: Crew) -> int:
    dropped = crew.drop()
    for index in dropped:
        _send(pipe, {"dropped": index})
    return len(dropped)


def _hear(pipe: Connection, into: SimpleQueue[Status | BaseException | int | None]) -> None:
    """Pass on what comes over the pipe; None when it is closed."""
    try:
        while True:
            into.put(int(pipe.recv_bytes()))
    except (EOFError, OSError):
        into.put(None)


def _tell(pipe: Connection, end: Status | BaseException) -> None:
    if isinstance(end, Status):
        _send(pipe, {"status": end.to_data()})
    else:
        told = end if isinstance(end, SocietyError) else f"{type(end).__name__}: {end}"
        _send(pipe, {"error": str(told)})


def _send(pipe: Connection, told: dict[str, Any]) -> None:
    # If nobody is left to be told: it all lies in the study's folder.
    with suppress(OSError):
        pipe.send_bytes(json.dumps(told).encode())
