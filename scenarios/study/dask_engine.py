"""The runs of a study on the workers of a dask scheduler, which see the study's folder."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from virsci_society.agents.errors import InputError, Stopped
from virsci_society.agents.lazy_imports import require_extra
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.lease import stop_all
from virsci_society.scenarios.runs.signals import ignore_interrupts
from virsci_society.scenarios.study.lock import BASE, FAILED_STATES, LOCK, RunResult
from virsci_society.scenarios.study.run_one import Opened, run_one
from virsci_society.scenarios.study.study_file import STUDY

if TYPE_CHECKING:
    from distributed import Client, Future, WorkerPlugin

PATIENCE = 600.0
"""Seconds to wait for a lost scheduler."""
PAUSE = 2.0
"""Seconds between two rounds, for runs that another process works on."""
MOST_LOST = 100
"""Workers that one run may lose; a run that kills them is quarantined much earlier."""
GRACE = 15.0
"""Seconds for which a study that is interrupted waits for its runs to stop."""
ResultData = Mapping[str, Any]
OnEnd = Callable[[RunResult], object]


class SchedulerGone(Exception):
    """The connection to the scheduler broke; the state of submitted runs is unknown."""


class _FailedFast(Exception):
    """A run has failed, and the others are cancelled."""


def run_on_cluster(
    study: Path,
    indices: Sequence[int],
    *,
    scheduler: str | None = None,
    local_cluster: int | None = None,
    trust: bool = False,
    again: bool = False,
    fail_fast: bool = False,
    on_result: OnEnd = lambda result: None,
) -> list[RunResult]:
    """Do runs of a study on a cluster; returns the result of each run that started."""
    require_extra("cluster", "distributed", "runs on a cluster need dask, here and on each worker")
    folder, found = study.resolve(), dict[int, RunResult]()

    def ended(data: ResultData) -> bool:
        if "refused" in data:
            raise InputError(str(data["refused"]))
        result = RunResult.from_data(data)
        if result.state in ("waiting", "running"):
            return False
        found[result.index] = result
        on_result(result)
        if fail_fast and result.state in FAILED_STATES:
            raise _FailedFast
        return True

    work = partial(run_on_worker, str(folder), study_fingerprint(folder), trust, again)
    with scheduler_at(scheduler, local_cluster) as address:
        try:
            give_out(work, indices, ended, address, _worker_plugin(local_cluster is not None))
        except BaseException as error:
            # Runs that have not started were cancelled with the client.
            stop = partial(stop_all, Stopped("the study was interrupted"), folder)
            until = time.monotonic() + GRACE
            with suppress(SchedulerGone, Stopped, OSError), connected(address, GRACE) as client:
                while sum(client.run(stop, on_error="ignore").values()):
                    if time.monotonic() >= until:
                        break
                    time.sleep(0.2)
            if isinstance(error, KeyboardInterrupt):
                raise Stopped("the study was interrupted") from error
            if not isinstance(error, _FailedFast):
                raise
    return [found[index] for index in indices if index in found]


def give_out(
    work: Callable[[int], ResultData],
    indices: Iterable[int],
    ended: Callable[[ResultData], bool],
    address: str,
    plugin: WorkerPlugin | None = None,
) -> None:
    """Submit runs until all have ended; a run whose worker is lost is submitted again."""
    from distributed import KilledWorker, as_completed

    missing = dict.fromkeys(indices, 0)
    while missing:
        with suppress(SchedulerGone), connected(address, PATIENCE) as client:
            if plugin is not None:
                client.register_plugin(plugin)
            submitted: dict[str, int] = {}

            def submit(index: int, client: Client = client) -> Future[ResultData]:
                # A new key each time: the scheduler must not answer from its cache. No retries:
                # the state of a run is in its folder, and only we start it again.
                key = f"society-run-{uuid4().hex}"
                submitted[key] = index  # noqa: B023 - used in this round alone
                return client.submit(work, index, key=key, pure=False, retries=0)

            doing = as_completed([submit(index) for index in missing], loop=client.loop)
            for future in doing:
                if future.cancelled():
                    raise SchedulerGone
                index = submitted.pop(future.key)
                error = future.exception() if future.status == "error" else None
                if isinstance(error, KilledWorker):
                    missing[index] += 1
                    if missing[index] > MOST_LOST:
                        raise Stopped(f"run {index}: lost {MOST_LOST} workers in a row")
                    doing.add(submit(index))
                elif error is not None:
                    raise error
                elif ended(future.result()):
                    del missing[index]
                future.release()
            if missing:
                time.sleep(PAUSE)


@contextmanager
def connected(address: str, patience: float) -> Iterator[Client]:
    """A client of a scheduler; waits while the scheduler is unreachable."""
    from distributed import Client
    from distributed.comm import CommClosedError

    # dask logs a lost connection as a traceback; we report it ourselves.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    until = time.monotonic() + patience
    while True:
        try:
            client = Client(address, timeout=max(1.0, min(5.0, patience)), set_as_default=False)
            break
        except (OSError, ValueError) as error:
            if time.monotonic() >= until:
                raise Stopped(
                    f"no scheduler has answered at {address} for {patience:.0f} seconds ({error}); "
                    "start it, with its workers"
                ) from error
            time.sleep(0.5)
    try:
        yield client
    except (CommClosedError, futures.CancelledError, asyncio.CancelledError) as error:
        raise SchedulerGone from error
    finally:
        with suppress(OSError, TimeoutError):
            client.close(timeout=2)


def run_on_worker(study: str, fingerprint: str, trust: bool, again: bool, index: int) -> ResultData:
    """Do one run, on a worker."""
    folder = Path(study)
    if not folder.is_dir():
        return {"refused": f"{study}: a worker cannot see this folder; use a shared file system"}
    if study_fingerprint(folder) != fingerprint:
        return {
            "refused": f"{study}: a worker sees another study there, or has another release of "
            "this project; use a shared folder, and the same release on all workers"
        }
    from distributed import get_worker

    find_code_here(trust)
    opened = _open_study(folder, trust, fingerprint)
    data = run_one(folder, index, trust=trust, again=again, opened=opened).to_data()
    if data["state"] == "stopped" and str(get_worker().status.name).startswith("clos"):
        data["state"] = "waiting"  # only this worker was stopped, not the study
    return data


@lru_cache(maxsize=1)
def _open_study(study: Path, trust: bool, fingerprint: str) -> Opened:
    """The files of a study, read again only if their ``fingerprint`` changes."""
    return Opened(study, trust)


def study_fingerprint(study: Path) -> str:
    """A hash of the files that define a study and of this release, the same for every worker."""
    digest = hashlib.sha256(metadata.version("virsci-society").encode())
    for path in (study / STUDY, study / BASE, study / LOCK):
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def _worker_plugin(ours: bool) -> WorkerPlugin:
    """The dask plugin that stops a worker's runs when it is closed, and lets them ignore Ctrl-C."""
    from distributed import WorkerPlugin

    class Manners(WorkerPlugin):  # type: ignore[misc]
        name = "society-manners"

        def setup(self, worker: Any) -> None:
            if ours:
                ignore_interrupts()

        async def teardown(self, worker: Any) -> None:
            # The worker is scaled down, or its scheduler is gone: no run may die of that.
            until = time.monotonic() + GRACE
            while stop_all(Stopped("its worker is being closed")) and time.monotonic() < until:
                await asyncio.sleep(0.1)

    return Manners()


@contextmanager
def scheduler_at(scheduler: str | None, workers: int | None) -> Iterator[str]:
    """The address of a scheduler: the given one, or a private one on this machine."""
    if (scheduler is None) == (workers is None):
        raise InputError("give either --scheduler ADDRESS or --local-cluster N")
    if scheduler is not None:
        yield scheduler
        return
    import dask
    from distributed import LocalCluster

    settings = {
        # Mesa sets "spawn" as the start method; nothing of this process is inherited.
        "distributed.worker.multiprocessing-method": "spawn",
        # A run whose worker died is returned at once, to count towards quarantine.
        "distributed.scheduler.allowed-failures": 0,
        # After this time the cluster closes the nanny of a worker that was lost again meanwhile,
        # and nobody would start the worker for the other runs.
        "distributed.deploy.lost-worker-timeout": "7 days",
    }
    with dask.config.set(settings):
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},  # any port
            worker_dashboard_address=None,
            # A worker that dask ended for its memory would take its runs with it.
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        )
        try:
            yield str(cluster.scheduler_address)
        finally:
            # On a busy machine a worker takes longer to end than dask waits; its runs have ended.
            with suppress(TimeoutError):
                cluster.close()
