"""The choice between threads, processes and a cluster by the arguments of the command."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.study.design import Design
from virsci_society.scenarios.study.status import Status

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

        Args:
            design: of the study.
            folder: of the study, with its lock.
            indices: of the runs.
            on_result: is given the status of every run as soon as it has ended.

        Returns:
            The status of each of those that were begun.

        Raises:
            InputError: the arguments exclude each other.
            Stopped: interrupted.
        """
        if self.scheduler is not None or self.local_cluster is not None:
            return self._on_cluster(folder, indices, on_result)
        from virsci_society.scenarios.study.execution.local import run_locally

        jobs, together = self._sizes(design, len(indices))
        return run_locally(
            folder,
            indices,
            jobs=jobs,
            together=together,
            apart=len(indices) > 1,
            trust=self.trust,
            again=self.again,
            fail_fast=self.fail_fast,
            on_result=on_result,
        )

    def _on_cluster(
        self, folder: Path, indices: Sequence[int], on_result: Callable[[Status], None]
    ) -> list[Status]:
        refused = {"--jobs": self.jobs, "--together": self.together}
        if given := [name for name, value in refused.items() if value is not None]:
            raise InputError(f"{' and '.join(given)}: for runs on this machine, not on a cluster")
        from virsci_society.scenarios.study.execution.dask_engine import run_on_cluster

        return run_on_cluster(
            folder,
            indices,
            scheduler=self.scheduler,
            local_cluster=self.local_cluster,
            trust=self.trust,
            again=self.again,
            fail_fast=self.fail_fast,
            on_result=on_result,
        )

    def _sizes(self, design: Design, runs: int) -> tuple[int, int]:
        """Processes, and runs in each."""
        waits = not all(scenario.seeded_backend.inline for scenario in design.scenarios)
        jobs = self.jobs or (1 if waits else os.cpu_count() or 1)
        together = self.together or (TOGETHER if waits else 1)
        return min(jobs, runs), min(together, runs)
