"""Worker processes on this machine that do runs of a study and are replaced when they die.

A process that dies takes its runs with it. They are begun again one at a time, so that the run that
kills its process is found and put into quarantine, and the others are not. ``concurrent.futures``
is not used, because a process that dies breaks its whole pool. Indices of runs go to a worker over
a pipe and short statuses come back, as text: nothing else crosses. When the pipe breaks, the
study's process is gone, and the worker stops its runs.
"""

from __future__ import annotations

import json
import multiprocessing
import threading
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from virsci_society.agents.errors import SocietyError, Stopped
from virsci_society.scenarios.runs.signals import SignalWatch, watch_signals
from virsci_society.scenarios.study.execution.crash_log import count_begins
from virsci_society.scenarios.study.execution.lease import stop_all
from virsci_society.scenarios.study.execution.thread_pool import ThreadPool
from virsci_society.scenarios.study.status import Status, folder_of, log_crash

POLL_SECONDS = 0.2
"""Seconds between two looks at whether a signal has come."""
STOP = -1
"""In place of a run's number: stop those that are under way."""
USELESS = 5
"""Workers lost in a row, for each process of the pool, of whose runs none had begun its own work;
after them the study stops."""


class RunEvents(Protocol):
    """What the pool reports to, and asks whether more runs are to be begun."""

    study: Path

    @property
    def is_over(self) -> bool:
        """Is nothing more to be begun?"""

    def record_result(self, status: Status) -> None:
        """Take the status of a run that has ended."""


def serve_runs(pipe: Connection, study: str, together: int, options: dict[str, Any]) -> None:
    """Do runs until the pipe is closed; the main function of a worker process.

    Args:
        pipe: run numbers in, JSON out: ``{"status": ...}``, ``{"dropped": index}`` or
            ``{"error": text}``.
        study: its folder.
        together: most runs at a time.
        options: of ``run_one``.
    """
    if options.get("trust"):
        from virsci_society.scenarios.config.registry import find_code_here

        find_code_here(True)
    with watch_signals() as signalled, ThreadPool(Path(study), together, **options) as pool:
        threading.Thread(target=_hear, args=(pipe, pool.results), daemon=True).start()
        _serve(pipe, pool, signalled, Path(study))


def _serve(pipe: Connection, pool: ThreadPool, signalled: SignalWatch, study: Path) -> None:
    under_way, closed = 0, False
    while under_way or not closed:
        if signalled.reason is not None:
            under_way -= _drop(pipe, pool)
            stop_all(signalled.reason, study)
        try:
            item = pool.results.get(timeout=POLL_SECONDS)
        except Empty:
            continue
        if item is None or item == STOP:
            closed = closed or item is None
            signalled.reason = signalled.reason or Stopped("the study was stopped")
        elif isinstance(item, int):
            under_way += 1
            pool.submit([item])
        else:
            under_way -= 1
            _tell(pipe, item)


def _drop(pipe: Connection, pool: ThreadPool) -> int:
    dropped = pool.cancel_pending()
    for index in dropped:
        _send(pipe, {"dropped": index})
    return len(dropped)


def _hear(pipe: Connection, into: SimpleQueue[Status | BaseException | int | None]) -> None:
    """Pass on run numbers from the pipe; None when it is closed."""
    try:
        while True:
            into.put(int(pipe.recv_bytes()))
    except (EOFError, OSError):
        into.put(None)


def _tell(pipe: Connection, end: Status | BaseException) -> None:
    if isinstance(end, Status):
        _send(pipe, {"status": end.to_data()})
    else:
        reason = end if isinstance(end, SocietyError) else f"{type(end).__name__}: {end}"
        _send(pipe, {"error": str(reason)})


def _send(pipe: Connection, message: dict[str, Any]) -> None:
    # If nobody is left to read it: it all lies in the study's folder.
    with suppress(OSError):
        pipe.send_bytes(json.dumps(message).encode())


class _Worker:
    """One worker process, and the runs it has been given."""

    def __init__(self, study: Path, together: int, options: dict[str, Any]) -> None:
        # Mesa makes "spawn" the way to start a process: nothing of this one is inherited.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.together, self.busy = together, list[int]()
        self.process: BaseProcess = context.Process(
            target=serve_runs, args=(theirs, str(study), together, options), name="society"
        )
        self.process.start()
        theirs.close()

    def give(self, index: int) -> None:
        """Let the worker do a run; the death of a worker is noticed by its pipe."""
        self.busy.append(index)
        self._send(index)

    def stop(self) -> None:
        """Let the worker's runs stop."""
        self._send(STOP)

    def end(self) -> None:
        """Let the worker end, and wait for its end."""
        self.pipe.close()
        self.process.join()

    def _send(self, number: int) -> None:
        # A pipe that is broken is at its end, as whoever reads there will see.
        with suppress(OSError):
            self.pipe.send_bytes(str(number).encode())


class ProcessPool:
    """Several workers, replaced when they die.

    Args:
        round_: takes results, and knows whether anything more is to be begun.
        jobs: processes.
        together: most runs in each.
        options: of ``run_one``.

    Attributes:
        ordinary: runs that are to be done.
        suspects: runs that were lost with a process; each is done by itself.
        lost: runs that have been suspects; each has its worker to itself.
    """

    def __init__(
        self, round_: RunEvents, jobs: int, together: int, options: dict[str, Any]
    ) -> None:
        self.ordinary: deque[int] = deque()
        self.suspects: deque[int] = deque()
        self._round, self._jobs, self._together = round_, jobs, together
        self._options = options
        self._workers: list[_Worker] = []
        self.lost: set[int] = set()
        self._begins: dict[int, int] = {}
        self._useless = 0
        self._stopping = False

    def work(self) -> None:
        """Work until every run has ended, or nothing more is to be begun and all have stopped."""
        try:
            while True:
                if self._round.is_over:
                    self._stop()
                else:
                    self._hand_out()
                if not any(worker.busy for worker in self._workers):
                    return
                self._wait_for_results()
        finally:
            for worker in self._workers:
                worker.end()

    def _stop(self) -> None:
        if not self._stopping:
            self._stopping = True
            self.ordinary.clear()
            self.suspects.clear()
            for worker in self._workers:
                worker.stop()

    def _hand_out(self) -> None:
        """Give runs to workers; a suspect goes to an idle worker, which gets nothing beside it."""
        wanted = min(self._jobs, len(self.ordinary) + len(self.suspects) + self._under_way())
        while len(self._workers) < wanted:
            self._workers.append(_Worker(self._round.study, self._together, self._options))
        for worker in self._workers:
            if self.suspects and not worker.busy:
                worker.give(self.suspects.popleft())
        while self.ordinary and (free := [one for one in self._workers if self._has_room(one)]):
            min(free, key=lambda one: len(one.busy)).give(self.ordinary.popleft())

    def _has_room(self, worker: _Worker) -> bool:
        alone = any(index in self.lost for index in worker.busy)
        return not alone and len(worker.busy) < worker.together

    def _under_way(self) -> int:
        return sum(len(worker.busy) for worker in self._workers)

    def _wait_for_results(self) -> None:
        pipes = {worker.pipe: worker for worker in self._workers}
        for ready in wait(list(pipes), timeout=POLL_SECONDS):
            if isinstance(ready, Connection):
                self._receive(pipes[ready])

    def _receive(self, worker: _Worker) -> None:
        try:
            message = json.loads(worker.pipe.recv_bytes())
        except (EOFError, OSError):
            self._replace_dead(worker)
            return
        if "error" in message:
            raise SocietyError(str(message["error"]))
        if "dropped" in message:
            worker.busy.remove(message["dropped"])
            return
        status = Status.from_data(message["status"])
        worker.busy.remove(status.index)
        self._useless = 0
        self._round.record_result(status)

    def _replace_dead(self, worker: _Worker) -> None:
        """Begin the runs of a dead worker again, one at a time.

        A run is judged only by deaths in its own work (``crash_log``). Workers that die before any
        run has begun tell of this machine, so they stop the study and no run fails of them.
        """
        self._workers.remove(worker)
        worker.end()
        code = worker.process.exitcode
        for index in worker.busy:
            log_crash(self._round.study, index, code)
            self.lost.add(index)
            if not self._round.is_over:
                self.suspects.append(index)
        # All of them are asked: each remembers how often it has been begun.
        self._useless = 0 if any([*map(self._has_begun, worker.busy)]) else self._useless + 1
        if self._useless >= USELESS * self._jobs and not self._round.is_over:
            raise Stopped(
                f"{self._useless} worker processes in a row ended (exit code {code}) before a run "
                "began in them; look for what ends them (memory, limits of this machine), then "
                "the same command goes on; --jobs 1 needs the least memory"
            )

    def _has_begun(self, index: int) -> bool:
        """Has the run begun its own work since it was last asked for?"""
        begins = count_begins(folder_of(self._round.study, index))
        before = self._begins.get(index, 0)
        self._begins[index] = begins
        return begins > before
