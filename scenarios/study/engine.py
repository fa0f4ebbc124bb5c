"""The engine of a study's runs, which are done in this process, in children or on a cluster.

A child is given a batch of runs and sends back short results, as text. One that dies costs its
batch: the runs that it had under way are begun again in a child of their own each, so that the run
that kills its process is found and put into quarantine, and the others are not; the rest of the
batch goes to the next child. ``concurrent.futures`` is not used, because a process that dies breaks
its whole pool.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError, SocietyError, Stopped
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.lease import LeaseHeld, hold_lease
from virsci_society.scenarios.runs.signals import POLL_SECONDS, watch_signals
from virsci_society.scenarios.study.design import Design
from virsci_society.scenarios.study.lock import (
    DECIDED,
    RunResult,
    folder_of,
    read_result,
    write_result,
)

TOGETHER = 8
"""Runs in one process by default, where most of the time is waiting for a model."""
USELESS = 5
"""Children lost in a row, for each that works at a time, of whose runs none had begun its own work;
after them the study stops."""
OnResult = Callable[[RunResult], object]


@dataclass(frozen=True)
class Engine:
    """The engine of a study's runs; results never depend on it.

    Attributes:
        jobs: processes on this machine; None: one for each core where scientists follow rules, one
            where a model is waited for.
        together: runs in each process at a time, which share slots and connections.
    """

    jobs: int | None = None
    together: int | None = None
    scheduler: str | None = None
    local_cluster: int | None = None
    fail_fast: bool = False
    again: bool = False
    trust: bool = False

    def run(
        self, design: Design, folder: Path, indices: Sequence[int], on_result: OnResult
    ) -> list[RunResult]:
        """Do these runs; returns the result of each of those that were begun."""
        # One replicate of all arms after another: arms of one seed start from one ecosystem, which
        # is then made once, and a study that is stopped has whole pairs.
        indices = sorted(indices, key=lambda index: (index % design.file.replicates, index))
        options: dict[str, Any] = {"trust": self.trust, "again": self.again}
        options |= {"fail_fast": self.fail_fast, "on_result": on_result}
        if self.scheduler is None and self.local_cluster is None:
            jobs, together = self.sizes(design, len(indices))
            options |= {"jobs": jobs, "together": together, "apart": len(indices) > 1}
            return run_locally(folder, indices, **options)
        refused = {"--jobs": self.jobs, "--together": self.together}
        if given := [name for name, value in refused.items() if value is not None]:
            raise InputError(f"{' and '.join(given)}: for runs on this machine, not on a cluster")
        from virsci_society.scenarios.study.dask_engine import run_on_cluster

        options |= {"scheduler": self.scheduler, "local_cluster": self.local_cluster}
        return run_on_cluster(folder, indices, **options)

    def sizes(self, design: Design, runs: int) -> tuple[int, int]:
        """Processes on this machine, and runs in each at a time."""
        waits = not all(scenario.seeded_backend.inline for scenario in design.scenarios)
        jobs = self.jobs or (1 if waits else os.cpu_count() or 1)
        together = self.together or (TOGETHER if waits else 1)
        return min(jobs, runs), min(together, runs)


def run_locally(
    study: Path,
    indices: Sequence[int],
    *,
    jobs: int = 1,
    together: int = 1,
    apart: bool = False,
    fail_fast: bool = False,
    on_result: OnResult = lambda result: None,
    **options: Any,
) -> list[RunResult]:
    """Do runs of a study here; returns the result of each of those that were begun.

    Args:
        apart: in children, though there is one process at a time.
        options: ``trust`` and ``again`` of ``run_one``.
    """
    from virsci_society.scenarios.study.run_one import run_batch

    found, options = dict[int, RunResult](), {**options, "fail_fast": fail_fast}
    failed: Stopped | None = None
    suspects = [index for index in indices if _begun(study, index) is not None]
    easy = [index for index in indices if index not in suspects]
    with watch_signals() as signalled:

        def stop() -> Stopped | None:
            return signalled.reason or failed

        if jobs > 1 or apart:
            ends = run_in_children(study, easy, suspects, jobs, together, stop, options)
        else:
            batches = ((suspects, 1), (easy, together))
            ends = chain.from_iterable(
                run_batch(study, batch, size, stop, **options) for batch, size in batches
            )
        for result in ends:
            found[result.index] = result
            on_result(result)
            if fail_fast and result.state in DECIDED:
                failed = Stopped("another run has failed (--fail-fast)")
    if signalled.reason is not None:
        raise signalled.reason
    return [found[index] for index in indices if index in found]


class _Child:
    """A child process, and those runs of its batch that have not ended."""

    def __init__(
        self, study: Path, batch: Sequence[int], together: int, options: Mapping[str, Any]
    ) -> None:
        self.left = {index: _begun(study, index) for index in batch}
        # Mesa makes "spawn" the way to start a process: nothing of this one is inherited.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        arguments = (theirs, str(study), list(batch), together, options)
        self.process = context.Process(target=do_batch, args=arguments, name="society")
        self.process.start()
        # Else the pipe would not break when the child dies: this process would hold its other end.
        theirs.close()

    def end(self) -> int | None:
        """Wait for its end; returns its exit code, below zero for a signal."""
        self.pipe.close()
        self.process.join()
        return self.process.exitcode


def run_in_children(
    study: Path,
    easy: Sequence[int],
    suspects: Sequence[int],
    jobs: int,
    together: int,
    stop: Callable[[], Stopped | None],
    options: Mapping[str, Any],
) -> Iterator[RunResult]:
    """Do runs in child processes; yields the result of each as it ends."""
    batches, alone, children = deque(easy), deque(suspects), list[_Child]()
    stopping, useless = False, 0
    try:
        while True:
            if not stopping and stop() is not None:
                stopping = True
                for child in children:
                    # A pipe that is broken is at its end, as whoever reads there will see.
                    with suppress(OSError):
                        child.pipe.send_bytes(b"stop")
            while not stopping and len(children) < jobs and (alone or batches):
                # Half of an even part, so that a slow child holds up no runs at the end.
                size = len(batches) if jobs == 1 else -(-len(batches) // (2 * jobs))
                size = min(max(size, together), len(batches))
                batch = [alone.popleft()] if alone else [batches.popleft() for _ in range(size)]
                children.append(_Child(study, batch, together, options))
            if not children:
                return
            pipes: dict[Any, _Child] = {child.pipe: child for child in children}
            for child in map(pipes.__getitem__, wait(pipes, timeout=POLL_SECONDS)):
                try:
                    told = json.loads(child.pipe.recv_bytes())
                except (EOFError, OSError):
                    children.remove(child)
                    code = child.end()
                    if stopping or not child.left:
                        continue
                    under_way = [i for i, was in child.left.items() if _begun(study, i) != was]
                    for index in under_way:
                        _note_death(study, index, code)
                    alone.extend(under_way)
                    batches.extendleft(i for i in reversed(child.left) if i not in under_way)
                    useless = 0 if under_way else useless + 1
                    if useless >= USELESS * jobs:
                        raise Stopped(
                            f"{useless} worker processes in a row ended (exit code {code}) before "
                            "a run began in them; look for what ends them (memory, limits of this "
                            "machine), then the same command resumes it; --jobs 1 needs the least "
                            "memory"
                        ) from None
                    continue
                if "error" in told:
                    raise SocietyError(told["error"])
                result, useless = RunResult.from_data(told), 0
                del child.left[result.index]
                yield result
    finally:
        for child in children:
            child.end()


def do_batch(
    pipe: Connection, study: str, batch: list[int], together: int, options: Mapping[str, Any]
) -> None:
    """Do a batch of runs; the main function of a child process.

    When the study's process is gone, the pipe breaks, and the runs stop.
    """
    from virsci_society.scenarios.study.run_one import run_batch

    if options.get("trust"):
        find_code_here(True)
    gone = threading.Event()

    def listen() -> None:
        with suppress(EOFError, OSError):
            pipe.recv_bytes()
        gone.set()

    def send(data: dict[str, Any]) -> None:
        # If nobody is left to read it: it all lies in the study's folder.
        with suppress(OSError):
            pipe.send_bytes(json.dumps(data).encode())

    # A daemon: a thread that waits at the pipe must not keep the process alive.
    threading.Thread(target=listen, daemon=True).start()
    with watch_signals() as signalled:

        def stop() -> Stopped | None:
            return signalled.reason or (Stopped("the study was stopped") if gone.is_set() else None)

        try:
            for result in run_batch(Path(study), batch, together, stop, **options):
                send(result.to_data())
        except BaseException as error:
            kind = "" if isinstance(error, SocietyError) else f"{type(error).__name__}: "
            send({"error": f"{kind}{error}"})


def _begun(study: Path, index: int) -> tuple[int, ...] | None:
    """The deaths of a run that was begun and has not ended; None of every other one."""
    held = read_result(study, index)
    return held.died_at if held is not None and held.state == "running" else None


def _note_death(study: Path, index: int, code: int | None) -> None:
    """Write into the result of a run how its process ended before it did."""
    how = f"exit code {code}"
    if code is not None and code < 0:
        with suppress(ValueError):
            how = signal.Signals(-code).name
    hint = "; so ends what takes more memory than there is" if how == "SIGKILL" else ""
    with suppress(LeaseHeld), hold_lease(folder_of(study, index), "its death is noted"):
        held = read_result(study, index)
        if held is not None and held.state == "running":
            reason = f"its process ended before it did: {how}{hint}"
            write_result(study, replace(held, reason=reason))
