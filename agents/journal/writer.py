"""A group-commit writer, whose one thread commits the changes of many callers together.

All changes that were queued while the last commit went to the disk become the next commit, so a
hundred calls in flight cost a few commits, not hundreds (rule 25). Changes are applied in the
order in which they were queued. Written by hand because sqlite3 has no group commit, and a lock
around one connection would cost each call a commit of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from virsci_society.agents.errors import Stopped

MOST_QUEUED = 20_000
"""Changes that may wait to be written; whoever brings one more waits."""

Change = Callable[[], Any]


class GroupCommitWriter:
    """Writer thread of one journal; it starts with the first change.

    Args:
        begin: opens a transaction.
        commit: makes the transaction durable.
        broken: turns the error of a transaction into the Stopped that callers get.

    Attributes:
        commits: number of commits so far.
        fault: the error after which nothing is written any more; None so far.
    """

    def __init__(
        self,
        begin: Callable[[], None],
        commit: Callable[[], None],
        broken: Callable[[BaseException], Stopped],
    ) -> None:
        self.commits = 0
        self.fault: Stopped | None = None
        self._begin, self._commit, self._broken = begin, commit, broken
        self._queue: deque[tuple[Change, asyncio.Future[Any] | None]] = deque()
        self._changed = threading.Condition()
        self._idle = True
        self._ending = False
        self._thread: threading.Thread | None = None

    async def commit(self, change: Change) -> Any:
        """Apply a change, and wait until it has been committed.

        Returns:
            What the change returned.

        Raises:
            Stopped: it cannot be written.
        """
        self._check()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._enqueue(change, future)
        return await future

    def enqueue(self, change: Change) -> None:
        """Apply a change with the next commit, without waiting for it.

        It waits only where ``MOST_QUEUED`` changes are queued already.

        Raises:
            Stopped: an earlier change could not be written.
        """
        self._check()
        if len(self._queue) >= MOST_QUEUED:
            self.flush()
        self._enqueue(change, None)

    def flush(self) -> None:
        """Wait until every queued change has been committed.

        Raises:
            Stopped: one of them cannot be written.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self.fault is not None or (self._idle and not self._queue)
            )
        self._check()

    def close(self) -> None:
        """Commit what is queued and end the thread."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _check(self) -> None:
        if self.fault is not None:
            raise self.fault
        if self._ending:
            raise Stopped("the journal is closed")

    def _enqueue(self, change: Change, future: asyncio.Future[Any] | None) -> None:
        # Appended before ``_idle`` is read, without the lock: a writer that becomes idle in between
        # looks at the queue once more before it sleeps.
        self._queue.append((change, future))
        if self._idle:
            with self._changed:
                # False before the writer wakes, so that a burst wakes it once.
                self._idle = False
                if self._thread is None:
                    self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
                    self._thread.start()
                self._changed.notify_all()

    def _write(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._ending:
                    # Set before every sleep: whoever saw an idle writer and waited for the lock may
                    # wake it after it has committed that change, and leaves it marked as busy.
                    self._idle = True
                    self._changed.notify_all()
                    self._changed.wait()
                if not self._queue:
                    return
                self._idle = False
            # Nothing of the batch stays in this frame, which may sleep for days.
            self._write_batch([self._queue.popleft() for _ in range(len(self._queue))])

    def _write_batch(self, batch: list[tuple[Change, asyncio.Future[Any] | None]]) -> None:
        """Commit a batch in one transaction, and wake its callers loop by loop."""
        results: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
        try:
            if self.fault is not None:
                raise self.fault
            self._begin()
            for change, future in batch:
                value = change()
                if future is not None:
                    results.setdefault(future.get_loop(), []).append((future, value))
            self._commit()
            self.commits += 1
        except Exception as error:
            if self.fault is None:
                self.fault = self._broken(error)
            # The whole transaction is undone, so every caller of the batch gets the error.
            results = {}
            for _, future in batch:
                if future is not None:
                    results.setdefault(future.get_loop(), []).append((future, self.fault))
        # One wake-up per loop and batch, whatever the number of callers (rules 25, 27).
        for loop, settled in results.items():
            try:
                loop.call_soon_threadsafe(_wake, settled)
            except RuntimeError:
                continue  # the loop is closed: nobody waits any more


def _wake(results: list[tuple[asyncio.Future[Any], Any]]) -> None:
    """Set the futures of a batch; called on their loop."""
    for future, value in results:
        # The caller was cancelled meanwhile; its change is committed all the same.
        if future.done():
            continue
        if isinstance(value, Stopped):
            future.set_exception(value)
        else:
            future.set_result(value)
