"""The engine of a study's runs, which are done in threads, in processes or on a cluster."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from virsci_society.agents.errors import InputError, Stopped
from virsci_society.scenarios.runs.lease import stop_all
from virsci_society.scenarios.runs.signals import SignalWatch, watch_signals
from virsci_society.scenarios.study.design import Design
from virsci_society.scenarios.study.execution.pools import (
    POLL_SECONDS,
    ProcessPool,
    RunResults,
    ThreadPool,
)
from virsci_society.scenarios.study.status import Status, count_crashes, folder_of

TOGETHER = 8
"""Runs in one process by default, where most of the time is waiting for a model."""


@dataclass(frozen=True)
class Engine:
    """The engine of a study's runs; results never depend on it.

    Attributes:
        jobs: processes on this machine; None: one for each core where scientists follow rules, one
            where a model is waited for.
        together: runs in each process; None: one, or eight where a model is waited for.
        scheduler: address of a dask scheduler.
        local_cluster: so many dask workers on this machine.
        fail_fast: stop at the first run that fails.
        again: begin quarantined runs as well.
        trust: let dotted paths in the scenarios be imported.
    """

    jobs: int | None = None
    together: int | None = None
    scheduler: str | None = None
    local_cluster: int | None = None
    fail_fast: bool = False
    again: bool = False
    trust: bool = False

    def run(
        self,
        design: Design,
        folder: Path,
        indices: Sequence[int],
        on_result: Callable[[Status], None],
    ) -> list[Status]:
        """Do these runs.

        Returns:
            The status of each of those that were begun.

        Raises:
            InputError: the arguments exclude each other.
            Stopped: interrupted.
        """
        # One replicate of all arms after another: arms of one seed start from one ecosystem, which
        # is then made once, and a study that is stopped has whole pairs.
        indices = sorted(indices, key=lambda index: (index % design.file.replicates, index))
        options: dict[str, Any] = {"trust": self.trust, "again": self.again}
        options |= {"fail_fast": self.fail_fast, "on_result": on_result}
        if self.scheduler is None and self.local_cluster is None:
            jobs, together = self.sizes(design, len(indices))
            apart = len(indices) > 1
            return run_locally(
                folder, indices, jobs=jobs, together=together, apart=apart, **options
            )
        refused = {"--jobs": self.jobs, "--together": self.together}
        if given := [name for name, value in refused.items() if value is not None]:
            raise InputError(f"{' and '.join(given)}: for runs on this machine, not on a cluster")
        from virsci_society.scenarios.study.execution.dask_engine import run_on_cluster

        return run_on_cluster(
            folder,
            indices,
            scheduler=self.scheduler,
            local_cluster=self.local_cluster,
            **options,
        )

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
    trust: bool = False,
    again: bool = False,
    fail_fast: bool = False,
    on_result: Callable[[Status], None] | None = None,
) -> list[Status]:
    """Do runs of a study; returns the status of each of those that were begun.

    Args:
        study: its folder, with its lock.
        indices: of the runs.
        jobs: processes; 1: this one.
        together: societies in each process at a time, which share slots and connections.
        apart: use a process of its own even for one, so that a run that kills it does no harm.
        trust: let dotted paths in the scenarios be imported.
        again: begin runs also that are in quarantine.
        fail_fast: stop at the first run that fails.
        on_result: is given the status of every run as soon as it has ended.

    Raises:
        Stopped: interrupted; the runs have been stopped, and can be resumed.
    """
    results = _LocalRuns(study, fail_fast, on_result)
    options = {"trust": trust, "again": again}
    with watch_signals() as signalled:
        results.signalled = signalled
        suspects = [index for index in indices if count_crashes(folder_of(study, index))]
        easy = [index for index in indices if index not in suspects]
        if jobs > 1 or apart:
            results.run_in_processes(easy, suspects, jobs, together, options)
        else:
            results.run_in_threads(suspects, 1, options)
            results.run_in_threads(easy, together, options)
        reason = results.reason_to_stop
    if reason is not None:
        raise reason
    return results.of(indices)


class _LocalRuns(RunResults):
    """Does runs on this machine, until all have ended or a signal has come."""

    signalled: SignalWatch

    @property
    def is_over(self) -> bool:
        """Is nothing more to be begun?"""
        return self.failed_fast or self.reason_to_stop is not None

    @property
    def reason_to_stop(self) -> Stopped | None:
        """The signal that has come; None: the study goes on."""
        return self.signalled.reason

    def run_in_threads(
        self, indices: Sequence[int], together: int, options: dict[str, Any]
    ) -> None:
        """Do runs in this process."""
        if not indices or self.is_over:
            return
        with ThreadPool(self.study, together, **options) as pool:
            pool.submit(indices)
            left = len(indices)
            while left:
                if self.is_over:
                    left -= len(pool.cancel_pending())
                    failed = Stopped("another run has failed (--fail-fast)")
                    stop_all(self.reason_to_stop or failed, self.study)
                try:
                    end = pool.results.get(timeout=POLL_SECONDS)
                except Empty:
                    continue
                left -= 1
                if isinstance(end, Status):
                    self.record_result(end)
                elif isinstance(end, BaseException):
                    raise end

    def run_in_processes(
        self,
        easy: Sequence[int],
        suspects: Sequence[int],
        jobs: int,
        together: int,
        options: dict[str, Any],
    ) -> None:
        """Do runs in several processes; each does several at a time, but suspects by themselves."""
        pool = ProcessPool(self, jobs, together, options)
        pool.ordinary, pool.suspects = deque(easy), deque(suspects)
        pool.lost = set(suspects)
        pool.work()
