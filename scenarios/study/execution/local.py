"""Local: the runs of a study on this machine, in this process or in several."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty
from typing import Any

from agents.errors import Stopped
from scenarios.study.crew import Crew
from scenarios.study.deaths import deaths
from scenarios.study.leases import stop_all
from scenarios.study.lock import require_lock
from scenarios.study.pool import Pool
from scenarios.study.shares import Shares
from scenarios.study.status import Status, folder_of
from scenarios.study.worker import LOOK, Signalled

BUDGET = 4
Telling = Callable[[Status], None]


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
    told: Telling | None = None,
) -> list[Status]:
    """Do runs of a study; returns how each of those that were begun has ended.

    Args:
        study: its folder, with its lock.
        indices: of the runs.
        jobs: processes; 1: this one.
        together: societies in each process at a time, which share slots and connections.
        apart: in a process of its own even if it is one, which a run can then kill in vain.
        trust: let dotted paths in the scenarios be imported.
        again: begin runs also that are in quarantine.
        fail_fast: stop at the first run that fails.
        told: of every run that has ended, as soon as it has.

    Raises:
        Stopped: interrupted; the runs have been stopped, and can be gone on with.
    """
    from scenarios.study.work import budget_of

    budget, lock = budget_of(study), require_lock(study)
    shares = None if budget is None else Shares(study, budget, lock.runs)
    if shares is not None:
        shares.reclaim()
    found: dict[int, Status] = {}
    todo = list(indices)
    options = {"trust": trust, "again": again}
    with Signalled() as signalled:
        while todo and signalled.reason is None:
            round_ = Round(study, todo, signalled, fail_fast, told)
            suspects = [index for index in todo if deaths(folder_of(study, index))]
            easy = [index for index in todo if index not in suspects]
            if jobs > 1 or apart:
                round_.in_processes(easy, suspects, jobs, together, options)
            else:
                round_.here(suspects, 1, options)
                round_.here(easy, together, options)
            found |= round_.ends
            if round_.failed_fast or shares is None:
                break
            short = [i for i in todo if i in found and found[i].code == BUDGET]
            todo = [index for index in short if shares.worth_another(index)]
    if signalled.reason is not None:
        raise signalled.reason
    return [found[index] for index in indices if index in found]


class Round:
    """One round over the runs that are to be done."""

    def __init__(
        self,
        study: Path,
        indices: Sequence[int],
        signalled: Signalled,
        fail_fast: bool,
        told: Telling | None,
    ) -> None:
        self.study, self.signalled = study, signalled
        self.ends: dict[int, Status] = {}
        self.failed_fast = False
        self._fail_fast, self._told = fail_fast, told

    @property
    def over(self) -> bool:
        """Is nothing more to be begun?"""
        return self.failed_fast or self.signalled.reason is not None

    def take(self, status: Status) -> None:
        """One run has ended."""
        self.ends[status.index] = status
        if self._told is not None:
            self._told(status)
        if self._fail_fast and status.state in ("failed", "quarantined"):
            self.failed_fast = True

    def why(self) -> Stopped:
        """What runs that are under way are told when nothing more is to be done."""
        return self.signalled.reason or Stopped("another run has failed (--fail-fast)")

    def here(self, indices: Sequence[int], together: int, options: dict[str, Any]) -> None:
        """In this process."""
        if not indices or self.over:
            return
        with Crew(self.study, together, **options) as crew:
            crew.give(indices)
            left = len(indices)
            while left:
                if self.over:
                    left -= len(crew.drop())
                    stop_all(self.why(), self.study)
                try:
                    end = crew.ends.get(timeout=LOOK)
                except Empty:
                    continue
                left -= 1
                if isinstance(end, Status):
                    self.take(end)
                elif isinstance(end, BaseException):
                    raise end

    def in_processes(
        self,
        easy: Sequence[int],
        suspects: Sequence[int],
        jobs: int,
        together: int,
        options: dict[str, Any],
    ) -> None:
        """In so many processes; each does several runs at a time, but suspects by themselves."""
        pool = Pool(self, jobs, together, options)
        pool.easy, pool.suspects = deque(easy), deque(suspects)
        pool.lost = dict.fromkeys(suspects, 0)
        pool.work()
