"""Threads and processes of this machine that do runs of a study.

Each run steps its own clock on a thread of its own, because answers are read only on the thread
that steps the clock (rule 18); the runs of a process ask through one event loop.

A process that dies takes its runs with it. They are begun again one at a time, so that the run that
kills its process is found and put into quarantine, and the others are not. ``concurrent.futures``
is not used, because a process that dies breaks its whole pool. Indices of runs go to a worker over
a pipe and short statuses come back, as text. When the pipe breaks, the study's process is gone,
and the worker stops its runs.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from virsci_society.agents.errors import SocietyError, Stopped
from virsci_society.scenarios.runs.lease import stop_all
from virsci_society.scenarios.runs.shared_resources import SharedResources
from virsci_society.scenarios.runs.signals import SignalWatch, watch_signals
from virsci_society.scenarios.study.status import Status, count_begins, folder_of, log_crash

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What numeric libraries read when they are loaded."""


class RunResults:
    """The statuses of a study's runs as they end.

    Attributes:
        failed_fast: a run has failed, and the others are not wanted any more.
    """

    def __init__(
        self, study: Path, fail_fast: bool, on_result: Callable[[Status], None] | None
    ) -> None:
        self.study, self.failed_fast = study, False
        self._results: dict[int, Status] = {}
        self._fail_fast, self._on_result = fail_fast, on_result

    @property
    def is_over(self) -> bool:
        """Is nothing more to be begun?"""
        return self.failed_fast

    def record_result(self, status: Status) -> None:
        """Take the status of a run that has ended."""
        self._results[status.index] = status
        if self._on_result is not None:
            self._on_result(status)
        if self._fail_fast and status.state in ("failed", "quarantined"):
            self.failed_fast = True

    def of(self, indices: Sequence[int]) -> list[Status]:
        """The status of each of these runs that was begun."""
        return [self._results[index] for index in indices if index in self._results]


class ThreadPool:
    """Threads that do runs of one study.

    Args:
        study: its folder.
        together: most runs at a time.
        options: of ``run_one``, the same for all runs.

    Attributes:
        results: a status for each run that was given, or the error that nobody expected; other
            threads may put orders into it for its reader.
    """

    def __init__(self, study: Path, together: int, **options: Any) -> None:
        self.study, self.together, self._options = study, together, options
        self.results: SimpleQueue[Status | BaseException | Order] = SimpleQueue()
        self._given: deque[int] = deque()
        self._busy = 0
        self._lock = threading.Lock()
        self._resources = SharedResources(shared=together > 1)
        self._threads = single_threaded_numerics()

    def __enter__(self) -> ThreadPool:
        self._threads.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections; every run has ended by then."""
        self._resources.close()
        self._threads.__exit__(None, None, None)

    def submit(self, indices: Sequence[int]) -> None:
        """Let these runs be done, in this order."""
        with self._lock:
            self._given.extend(indices)
            for _ in range(min(self.together - self._busy, len(indices))):
                self._busy += 1
                threading.Thread(target=self._work, name="society", daemon=True).start()

    def cancel_pending(self) -> list[int]:
        """Begin nothing more; returns the runs that were given and will not be done."""
        with self._lock:
            dropped = list(self._given)
            self._given.clear()
        return dropped

    def _work(self) -> None:
        from virsci_society.scenarios.study.execution.run_one import run_one

        while (index := self._next()) is not None:
            try:
                self.results.put(
                    run_one(self.study, index, resources=self._resources, **self._options)
                )
            except BaseException as error:
                self.results.put(error)

    def _next(self) -> int | None:
        with self._lock:
            if self._given:
                return self._given.popleft()
            self._busy -= 1
            return None


@contextmanager
def single_threaded_numerics() -> Iterator[None]:
    """Let numeric libraries work on one thread, those loaded already and those loaded later.

    Some parts set the number of threads for a moment; what they set back must be one as well, or a
    sum of one run could depend on another run at the same time (rule 12). And threads of several
    processes that wait for each other in loops take several times the processor time of the work.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


POLL_SECONDS = 0.2
"""Seconds between two looks at whether a signal has come."""


@dataclass(frozen=True)
class Order:
    """What a study tells one of its workers.

    Attributes:
        run: number of a run that is to be done; None: stop those that are under way.
        last: the study's process is gone, and no further order comes.
    """

    run: int | None = None
    last: bool = False


USELESS = 5
"""Workers lost in a row, for each process of the pool, of whose runs none had begun its own work;
after them the study stops."""


def serve_runs(pipe: Connection, study: str, together: int, options: dict[str, Any]) -> None:
    """Do runs until the pipe is closed; the main function of a worker process.

    Args:
        pipe: orders in, JSON out: ``status`` of a run, a ``dropped`` number or an ``error``.
        study: its folder.
        together: most runs at a time.
        options: of ``run_one``.
    """
    if options.get("trust"):
        from virsci_society.scenarios.config.registry import find_code_here

        find_code_here(True)
    with watch_signals() as signalled, ThreadPool(Path(study), together, **options) as pool:
        # A daemon: a thread that waits at the pipe must not keep the process alive.
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
        if isinstance(item, Order) and item.run is not None:
            under_way += 1
            pool.submit([item.run])
        elif isinstance(item, Order):
            closed = closed or item.last
            signalled.reason = signalled.reason or Stopped("the study was stopped")
        else:
            under_way -= 1
            _tell(pipe, item)


def _drop(pipe: Connection, pool: ThreadPool) -> int:
    dropped = pool.cancel_pending()
    for index in dropped:
        _send(pipe, {"dropped": index})
    return len(dropped)


def _hear(pipe: Connection, into: SimpleQueue[Status | BaseException | Order]) -> None:
    """Pass on orders from the pipe, and that it is closed."""
    try:
        while True:
            into.put(Order(**json.loads(pipe.recv_bytes())))
    except (EOFError, OSError):
        into.put(Order(last=True))


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
        # Else the pipe would not break when the worker dies: this process would hold its other end.
        theirs.close()

    def give(self, index: int) -> None:
        """Let the worker do a run; the death of a worker is noticed by its pipe."""
        self.busy.append(index)
        self._send(Order(index))

    def stop(self) -> None:
        """Let the worker's runs stop."""
        self._send(Order())

    def end(self) -> None:
        """Let the worker end, and wait for its end."""
        self.pipe.close()
        self.process.join()

    def _send(self, order: Order) -> None:
        # A pipe that is broken is at its end, as whoever reads there will see.
        with suppress(OSError):
            self.pipe.send_bytes(json.dumps(asdict(order)).encode())


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
        self, round_: RunResults, jobs: int, together: int, options: dict[str, Any]
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
        under_way = sum(len(worker.busy) for worker in self._workers)
        wanted = min(self._jobs, len(self.ordinary) + len(self.suspects) + under_way)
        while len(self._workers) < wanted:
            self._workers.append(_Worker(self._round.study, self._together, self._options))
        for worker in self._workers:
            if self.suspects and not worker.busy:
                worker.give(self.suspects.popleft())
        while self.ordinary and (free := [one for one in self._workers if self._has_room(one)]):
            # The least busy one, so that a slow worker does not hold up runs that another could do.
            min(free, key=lambda one: len(one.busy)).give(self.ordinary.popleft())

    def _has_room(self, worker: _Worker) -> bool:
        alone = any(index in self.lost for index in worker.busy)
        return not alone and len(worker.busy) < worker.together

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

        A run is judged only by deaths in its own work (``status.count_crashes``). Workers that die
        before any run has begun tell of this machine: they stop the study and no run fails.
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
                "the same command resumes it; --jobs 1 needs the least memory"
            )

    def _has_begun(self, index: int) -> bool:
        """Has the run begun its own work since it was last asked for?"""
        begins = count_begins(folder_of(self._round.study, index))
        before = self._begins.get(index, 0)
        self._begins[index] = begins
        return begins > before
