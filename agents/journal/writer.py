"""Commits: one thread that writes, in the order in which it was told, many changes at a time.

Whatever has been queued while the last commit went to the disk becomes the next one, so a
hundred calls in flight cost a few commits and not hundreds. Those who wait are woken together.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from agents.errors import Stopped

MOST_QUEUED = 20_000
"""Changes that may wait to be written; whoever brings one more waits."""

Change = Callable[[], Any]


class Commits:
    """The writer of one journal.

    Args:
        begin: opens a transaction.
        commit: makes it durable.
        broken: turns what the database raised into a Stopped.
    """

    def __init__(
        self,
        begin: Callable[[], None],
        commit: Callable[[], None],
        broken: Callable[[BaseException], Stopped],
    ) -> None:
        self.made = 0
        self.fault: Stopped | None = None
        self._begin, self._commit, self._broken = begin, commit, broken
        self._queue: deque[tuple[Change, asyncio.Future[Any] | None]] = deque()
        self._news = threading.Condition()
        self._idle = True
        self._ending = False
        self._thread: threading.Thread | None = None

    async def done(self, change: Change) -> Any:
        """What the change returned, once it has been committed.

        Raises:
            Stopped: it cannot be written.
        """
        self._check()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._enqueue(change, future)
        return await future

    def later(self, change: Change) -> None:
        """Let a change be committed with whatever comes next.

        Raises:
            Stopped: an earlier one could not be written.
        """
        self._check()
        if len(self._queue) >= MOST_QUEUED:
            self.flush()
        self._enqueue(change, None)

    def flush(self) -> None:
        """Wait until everything that is queued has been committed.

        Raises:
            Stopped: it cannot be written.
        """
        with self._news:
            self._news.wait_for(lambda: self.fault is not None or (self._idle and not self._queue))
        self._check()

    def close(self) -> None:
        """Write what is queued and end the thread."""
        with self._news:
            self._ending = True
            self._news.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _check(self) -> None:
        if self.fault is not None:
            raise self.fault
        if self._ending:
            raise Stopped("the journal is closed")

    def _enqueue(self, change: Change, future: asyncio.Future[Any] | None) -> None:
        self._queue.append((change, future))
        if self._idle:
            with self._news:
                # False before the writer wakes, so that a burst wakes it once.
                self._idle = False
                if self._thread is None:
                    self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
                    self._thread.start()
                self._news.notify_all()

    def _write(self) -> None:
        while True:
            with self._news:
                if not self._queue:
                    self._idle = True
                    self._news.notify_all()
                    self._news.wait_for(lambda: self._queue or self._ending)
                    if not self._queue:
                        return
                    self._idle = False
            # Nothing of it stays in this frame, which may sleep for days.
            self._write_batch([self._queue.popleft() for _ in range(len(self._queue))])

    def _write_batch(self, batch: list[tuple[Change, asyncio.Future[Any] | None]]) -> None:
        ended: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
        try:
            if self.fault is not None:
                raise self.fault
            self._begin()
            for change, future in batch:
                value = change()
                if future is not None:
                    ended.setdefault(future.get_loop(), []).append((future, value))
            self._commit()
            self.made += 1
        except Exception as error:
            if self.fault is None:
                self.fault = self._broken(error)
            ended = {}
            for _, future in batch:
                if future is not None:
                    ended.setdefault(future.get_loop(), []).append((future, self.fault))
        for loop, results in ended.items():
            try:
                loop.call_soon_threadsafe(_wake, results)
            except RuntimeError:
                continue  # the loop is closed: nobody waits any more


def _wake(results: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, value in results:
        if future.done():
            continue
        if isinstance(value, Stopped):
            future.set_exception(value)
        else:
            future.set_result(value)
