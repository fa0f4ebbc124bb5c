"""Pool: processes on this machine that do runs of a study, replaced when they die.

A process that dies takes its runs with it. They are begun again one at a time, so that the one
that kills whatever runs it is found and put into quarantine, and the others are not.
"""

from __future__ import annotations

import json
import multiprocessing
from collections import deque
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.errors import SocietyError
from scenarios.study.deaths import QUARANTINE
from scenarios.study.lock import require_lock
from scenarios.study.logs import log_death
from scenarios.study.status import Status, write_status
from scenarios.study.worker import LOOK, STOP, serve

if TYPE_CHECKING:
    from scenarios.study.local import Round


class _Worker:
    """One process, and the runs it has been given."""

    def __init__(self, study: Path, together: int, options: dict[str, Any]) -> None:
        # Mesa makes "spawn" the way to start a process: nothing of this one is inherited.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.together, self.busy = together, list[int]()
        self.process: BaseProcess = context.Process(
            target=serve, args=(theirs, str(study), together, options), name="society"
        )
        self.process.start()
        theirs.close()

    def give(self, index: int) -> None:
        """Let it do a run; one that has died meanwhile is noticed by its pipe."""
        self.busy.append(index)
        self._send(index)

    def stop(self) -> None:
        """Let its runs stop."""
        self._send(STOP)

    def end(self) -> None:
        """Let it end, and wait for that."""
        self.pipe.close()
        self.process.join()

    def _send(self, number: int) -> None:
        # A pipe that is broken is at its end, as whoever reads there will see.
        with suppress(OSError):
            self.pipe.send_bytes(str(number).encode())


class Pool:
    """Several workers, replaced when they die.

    Args:
        round_: takes how runs end, and knows whether anything more is to be begun.
        jobs: processes.
        together: most runs in each.
        options: of ``run_one``.

    Attributes:
        easy: runs that are to be done.
        suspects: runs that were lost with a process; each is done by itself.
        lost: how often each of those was lost.
    """

    def __init__(self, round_: Round, jobs: int, together: int, options: dict[str, Any]) -> None:
        self.easy: deque[int] = deque()
        self.suspects: deque[int] = deque()
        self._round, self._jobs, self._together = round_, jobs, together
        self._options = options
        self._workers: list[_Worker] = []
        self.lost: dict[int, int] = {}
        self._told_to_stop = False

    def work(self) -> None:
        """Until every run has ended, or nothing more is to be begun and what was has stopped."""
        try:
            while True:
                if self._round.over:
                    self._stop()
                else:
                    self._hand_out()
                if not any(worker.busy for worker in self._workers):
                    return
                self._listen()
        finally:
            for worker in self._workers:
                worker.end()

    def _stop(self) -> None:
        if not self._told_to_stop:
            self._told_to_stop = True
            self.easy.clear()
            self.suspects.clear()
            for worker in self._workers:
                worker.stop()

    def _hand_out(self) -> None:
        """Suspects go to workers that have nothing else to do, and get nothing beside them."""
        wanted = min(self._jobs, len(self.easy) + len(self.suspects) + self._under_way())
        while len(self._workers) < wanted:
            self._workers.append(_Worker(self._round.study, self._together, self._options))
        for worker in self._workers:
            if self.suspects and not worker.busy:
                worker.give(self.suspects.popleft())
        while self.easy and (free := [one for one in self._workers if self._has_room(one)]):
            min(free, key=lambda one: len(one.busy)).give(self.easy.popleft())

    def _has_room(self, worker: _Worker) -> bool:
        alone = any(index in self.lost for index in worker.busy)
        return not alone and len(worker.busy) < worker.together

    def _under_way(self) -> int:
        return sum(len(worker.busy) for worker in self._workers)

    def _listen(self) -> None:
        pipes = {worker.pipe: worker for worker in self._workers}
        for ready in wait(list(pipes), timeout=LOOK):
            if isinstance(ready, Connection):
                self._hear(pipes[ready])

    def _hear(self, worker: _Worker) -> None:
        try:
            told = json.loads(worker.pipe.recv_bytes())
        except (EOFError, OSError):
            self._bury(worker)
            return
        if "error" in told:
            raise SocietyError(str(told["error"]))
        if "dropped" in told:
            worker.busy.remove(told["dropped"])
            return
        status = Status.from_data(told["status"])
        worker.busy.remove(status.index)
        self._round.take(status)

    def _bury(self, worker: _Worker) -> None:
        """A worker has died; its runs are begun again one at a time."""
        self._workers.remove(worker)
        worker.end()
        code = worker.process.exitcode
        for index in worker.busy:
            log_death(self._round.study, index, code)
            self.lost[index] = self.lost.get(index, 0) + 1
            if self.lost[index] > QUARANTINE + 1:
                self._give_up(index, f"its process ends (exit code {code}) before it begins")
            elif not self._round.over:
                self.suspects.append(index)

    def _give_up(self, index: int, reason: str) -> None:
        lock = require_lock(self._round.study)
        status = replace(lock.waiting(index), state="failed", reason=reason, code=1)
        write_status(self._round.study, status)
        self._round.take(status)
