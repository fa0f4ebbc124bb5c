"""Errands: the runs of a study handed to the workers of a dask scheduler, until all have ended.

An errand is a few words there (which study, which run) and a short status back. What a run has
done lies in its folder, so an errand that is lost with its worker or its scheduler is simply given
out again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from agents.errors import Stopped

if TYPE_CHECKING:
    from distributed import Client, Future, WorkerPlugin

PATIENCE = 600.0
"""Seconds for which a scheduler that has gone may stay away."""
PAUSE = 2.0
"""Seconds between two rounds, for runs that somebody else works on."""
MOST_LOST = 100
"""Workers that one errand may lose; a run that kills them is in quarantine long before."""

Told = Mapping[str, Any]
Ended = Callable[[Told], bool]


class SchedulerGone(Exception):
    """The connection to the scheduler broke; nothing is known about what it was given."""


class Errands:
    """The runs of one study that are still to be done.

    Args:
        work: runs on a worker; takes ``words`` and an index, gives a status as plain data.
        words: carried to the worker with each index.
        indices: of the runs.
        ended: is given each status; True: that run needs no further errand.
        plugin: a dask plugin that every worker is to have; None: none.
    """

    def __init__(
        self,
        work: Callable[..., Told],
        words: tuple[object, ...],
        indices: Iterable[int],
        ended: Ended,
        plugin: WorkerPlugin | None = None,
    ) -> None:
        self._work, self._words, self._ended, self._plugin = work, words, ended, plugin
        self._missing = dict.fromkeys(indices, 0)
        self._number = 0

    def run(self, address: str, *, patience: float = PATIENCE) -> None:
        """Give out errands until every run has ended.

        Args:
            address: of the scheduler.
            patience: seconds for which the scheduler may be away, at the start or later.

        Raises:
            Stopped: it stayed away for longer.
        """
        while self._missing:
            try:
                with connected(address, patience) as client:
                    self._round(client)
                    if self._missing:
                        time.sleep(PAUSE)
            except SchedulerGone:
                continue

    def _round(self, client: Client) -> None:
        """Give out every missing run once, and again for each worker that is lost."""
        from distributed import as_completed

        if self._plugin is not None:
            client.register_plugin(self._plugin)
        given = [self._hand_out(client, index) for index in self._missing]
        doing = as_completed(given, loop=client.loop)
        for future in doing:
            if future.cancelled():
                raise SchedulerGone
            index = _index_of(future)
            if self._take(index, future):
                doing.add(self._hand_out(client, index))
            future.release()

    def _hand_out(self, client: Client, index: int) -> Future[Told]:
        self._number += 1
        # A key of its own each time: the scheduler must never answer from what it remembers.
        key = f"society-run-{index}-{self._number}-{time.time_ns()}"
        return client.submit(self._work, *self._words, index, key=key, pure=False, retries=0)

    def _take(self, index: int, future: Future[Told]) -> bool:
        """Take what came of one errand; True if its worker was lost and it must be given anew."""
        from distributed import KilledWorker

        error = future.exception() if future.status == "error" else None
        if isinstance(error, KilledWorker):
            self._missing[index] += 1
            if self._missing[index] > MOST_LOST:
                raise Stopped(f"run {index}: it has lost {MOST_LOST} workers one after another")
            return True
        if error is not None:
            raise error
        if self._ended(future.result()):
            del self._missing[index]
        return False


def stop_everywhere(address: str, stop: Callable[[], int], grace: float) -> None:
    """Stop runs on all workers; errands that have not begun end with the client that gave them.

    Args:
        address: of the scheduler.
        stop: called on every worker, again and again; returns how many runs it still has.
        grace: seconds for which to wait for them.
    """
    until = time.monotonic() + grace
    with suppress(SchedulerGone, Stopped, OSError), connected(address, grace) as client:
        while sum(client.run(stop, on_error="ignore").values()) and time.monotonic() < until:
            time.sleep(0.2)


@contextmanager
def connected(address: str, patience: float) -> Iterator[Client]:
    """A client of a scheduler; waits for one that is away.

    Raises:
        Stopped: it is away for longer than ``patience`` seconds.
        SchedulerGone: it went away inside the block.
    """
    from distributed import Client
    from distributed.comm import CommClosedError

    # What it says of a lost connection is a traceback; what became of it is told by us.
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


def _index_of(future: Future[Told]) -> int:
    return int(str(future.key).split("-")[2])
