"""Cluster: the runs of a study on the workers of a dask scheduler, here or elsewhere.

Carried to a worker are the study's folder, the hash of what stands in it, and the index of a run;
a short status comes back. Journals and results lie in the run folders, which all workers share.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.errors import BudgetReached, InputError, Stopped
from scenarios.study.errands import Errands, Told, stop_everywhere
from scenarios.study.leases import stop_all
from scenarios.study.shares import Shares

if TYPE_CHECKING:
    from distributed import WorkerPlugin

    from scenarios.study.status import Status

SEALED = ("study.yaml", "base.yaml", "lock.json")
"""Files of a study's folder that say what is to be run."""
GRACE = 15.0
"""Seconds for which a study that is interrupted waits for its runs to stop."""
_REFUSED = "refused"


def run_on_cluster(
    study: Path,
    indices: Sequence[int],
    *,
    scheduler: str | None = None,
    local_cluster: int | None = None,
    trust: bool = False,
    again: bool = False,
    fail_fast: bool = False,
    told: Callable[[Status], None] | None = None,
) -> list[Status]:
    """Do runs of a study on a cluster; returns how each of those that were begun has ended.

    A lost worker's runs are given out again, and a lost scheduler is waited for (``errands``).

    Args:
        study: its folder with its lock, seen under the same path by every worker.
        indices: of the runs.
        scheduler: address of a dask scheduler, such as ``tcp://host:8786``.
        local_cluster: instead, so many workers on this machine, each a process.
        trust: let dotted paths in the scenarios be imported.
        again: begin runs also that are in quarantine.
        fail_fast: stop at the first run that fails.
        told: of every run that has ended, as soon as it has.

    Raises:
        InputError: dask is not installed, or a worker sees another study or release.
        Stopped: interrupted, or the scheduler stayed away.
    """
    require_dask()
    folder = study.resolve()
    ends = _Ends(folder, fail_fast, told)
    words = (str(folder), seal_of(folder), trust, again)
    manners = _manners(ours=local_cluster is not None)
    with _scheduler(scheduler, local_cluster) as address:
        try:
            todo = list(indices)
            while todo:
                Errands(do_run, words, todo, ends.take, manners).run(address)
                todo = ends.worth_another(todo)
        except BaseException as error:
            stop_everywhere(address, _Stop(folder), GRACE)
            if isinstance(error, KeyboardInterrupt):
                raise Stopped("the study was interrupted") from error
            if not isinstance(error, _FailedFast):
                raise
    return [ends.found[index] for index in indices if index in ends.found]


class _FailedFast(Exception):
    """A run has failed, and the others are not wanted any more."""


class _Ends:
    """How the runs of a study end, one by one."""

    def __init__(self, study: Path, fail_fast: bool, told: Callable[[Status], None] | None) -> None:
        from scenarios.study.lock import require_lock
        from scenarios.study.work import budget_of

        self.found: dict[int, Status] = {}
        self._fail_fast, self._told = fail_fast, told
        budget, runs = budget_of(study), require_lock(study).runs
        self._shares = None if budget is None else Shares(study, budget, runs)
        if self._shares is not None:
            self._shares.reclaim()

    def take(self, data: Told) -> bool:
        """Note what came of an errand; False if the run has not ended with it."""
        from scenarios.study.status import Status

        if _REFUSED in data:
            raise InputError(str(data[_REFUSED]))
        status = Status.from_data(dict(data))
        if status.state in ("waiting", "running"):
            return False
        self.found[status.index] = status
        if self._told is not None:
            self._told(status)
        if self._fail_fast and status.state in ("failed", "quarantined"):
            raise _FailedFast
        return True

    def worth_another(self, indices: Sequence[int]) -> list[int]:
        """Runs that their shares have stopped and that could go on now, after all have ended."""
        shares = self._shares
        if shares is None:
            return []
        short = [i for i in indices if self.found[i].code == BudgetReached.exit_code]
        return [index for index in short if shares.worth_another(index)]


def do_run(study: str, seal: str, trust: bool, again: bool, index: int) -> Told:
    """Do one run, on a worker; returns its status as plain data, or why this worker refuses."""
    from scenarios.arguments import find_code_here
    from scenarios.study.work import run_one

    folder = Path(study)
    if not folder.is_dir():
        return {_REFUSED: f"{study}: a worker cannot see this folder; put it where all can"}
    if seal_of(folder) != seal:
        return {
            _REFUSED: f"{study}: a worker sees another study there, or is of another release of "
            "this project; let all see the same folder and install the same release"
        }
    find_code_here(trust)
    data: dict[str, Any] = run_one(folder, index, trust=trust, again=again).to_data()
    if data["state"] == "stopped" and _is_closing():
        data["state"] = "waiting"  # not the study was stopped, only this worker
    return data


def seal_of(study: Path) -> str:
    """A hash of what is to be run and by which release; the same for all who may work on it."""
    told = hashlib.sha256(metadata.version("virsci-society").encode())
    for name in SEALED:
        path = study / name
        told.update(path.read_bytes() if path.is_file() else b"")
    return told.hexdigest()


def require_dask() -> None:
    """See that the extra is installed.

    Raises:
        InputError: it is not.
    """
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise InputError(
            "runs on a cluster need dask: pip install 'virsci-society[cluster]', here and on "
            "every worker"
        ) from error


def _manners(ours: bool) -> WorkerPlugin:
    """How a worker behaves when it is closed, and when somebody presses Ctrl-C.

    Args:
        ours: the worker lives in our terminal, where Ctrl-C is meant for the study's command.
    """
    from distributed import WorkerPlugin

    class Manners(WorkerPlugin):  # type: ignore[misc]
        name = "society-manners"

        def setup(self, worker: Any) -> None:
            if ours:
                signal.signal(signal.SIGINT, signal.SIG_IGN)

        async def teardown(self, worker: Any) -> None:
            # Scaled down, told to end, or its scheduler is gone: no run is to die of that.
            until = time.monotonic() + GRACE
            while stop_all(Stopped("its worker is being closed")) and time.monotonic() < until:
                await asyncio.sleep(0.1)

    return Manners()


def _is_closing() -> bool:
    from distributed import get_worker

    return str(get_worker().status.name).startswith("clos")


class _Stop:
    """Tells a worker's runs of one study to stop; gives how many there are."""

    def __init__(self, study: Path) -> None:
        self.study = study

    def __call__(self) -> int:
        return stop_all(Stopped("the study was interrupted"), self.study)


@contextmanager
def _scheduler(scheduler: str | None, local_cluster: int | None) -> Iterator[str]:
    """The address of the scheduler; of one that lives as long as the block, if it is local."""
    if (scheduler is None) == (local_cluster is None):
        raise InputError("give either --scheduler ADDRESS or --local-cluster N")
    if scheduler is not None:
        yield scheduler
        return
    if local_cluster is None or local_cluster < 1:
        raise InputError(f"--local-cluster {local_cluster}: at least one worker is needed")
    with _local(local_cluster) as cluster:
        yield cluster.scheduler_address


def _local(workers: int) -> Any:
    """A scheduler and its workers on this machine, seen by nobody else."""
    import dask
    from distributed import LocalCluster

    settings = {
        # Mesa makes "spawn" the way to start a process; nothing of this one is to be inherited.
        "distributed.worker.multiprocessing-method": "spawn",
        "distributed.scheduler.allowed-failures": 0,
    }
    with dask.config.set(settings):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            # Without a dashboard it still listens for its own metrics: on any free port, then.
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            worker_dashboard_address=None,
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        )
