"""An asyncio event loop in a daemon thread of its own, and work repeated on a thread.

The loop of ``asyncio.Runner`` cannot be handed work from outside.
"""

from __future__ import annotations

import asyncio
import selectors
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from time import monotonic
from typing import Any

PIECE = 0.25
"""Most seconds that the clock of a loop counts between two looks at its sockets."""


class _PatientSelector(selectors.DefaultSelector):
    """Looks at the sockets at least every ``PIECE`` seconds, and counts the time in between."""

    def __init__(self) -> None:
        super().__init__()
        self._counted, self._looked = 0.0, monotonic()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._look()
        ready = super().select(None if timeout is None else min(timeout, PIECE))
        if timeout is None:  # nothing has a deadline meanwhile
            self._looked = monotonic()
        self._look()
        return ready

    def time(self) -> float:
        """The seconds that were counted."""
        return self._counted + min(monotonic() - self._looked, PIECE)

    def _look(self) -> None:
        self._counted, self._looked = self.time(), monotonic()


class PatientLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while this process is too busy to look at sockets."""

    def __init__(self) -> None:
        self._patient = _PatientSelector()
        super().__init__(self._patient)

    def time(self) -> float:
        """Seconds since the loop was made, without those in which it was too busy."""
        return self._patient.time()


class LoopThread:
    """One event loop in one daemon thread, under a switch interval of its own if one is given."""

    def __init__(
        self,
        name: str,
        *,
        wind_up: Callable[[], Coroutine[Any, Any, None]] | None = None,
        switch_interval: float | None = None,
    ) -> None:
        self._wind_up = wind_up
        self._earlier_interval: float | None = None
        if switch_interval is not None:
            self._earlier_interval = sys.getswitchinterval()
            sys.setswitchinterval(switch_interval)
        self.loop = PatientLoop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """True while the thread runs; False as well in a process that was forked off."""
        return self._thread.is_alive()

    @property
    def is_current(self) -> bool:
        """True if the caller is on this thread."""
        return threading.current_thread() is self._thread

    def submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Run a coroutine on the loop; the future holds its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def call_soon(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function on the loop; safe from any thread and from a signal handler."""
        self.loop.call_soon_threadsafe(function, *arguments)

    def run(self, work: Coroutine[Any, Any, None], timeout: float) -> None:
        """Run a coroutine on the loop; wait for its end, except on the loop's own thread."""
        if self.loop.is_closed():
            # Else Python would warn of a coroutine that was never awaited.
            work.close()
            return
        future = self.submit(work)
        if not self.is_current:
            future.result(timeout=timeout)

    def stop(self, timeout: float = 10.0) -> None:
        """Stop the loop and wait for the thread to wind up, but not on the loop's own thread."""
        if self._earlier_interval is not None:
            sys.setswitchinterval(self._earlier_interval)
        self.call_soon(self.loop.stop)
        if not self.is_current:
            self._thread.join(timeout=timeout)

    def _run(self) -> None:
        loop = self.loop
        asyncio.set_event_loop(loop)
        loop.run_forever()
        if self._wind_up is not None:
            # Connections and async generators end on the loop that made them, so before it closes.
            loop.run_until_complete(self._wind_up())
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()
            # No circle with the owner is left, so both go as soon as nobody holds them (rule 21).
            self._wind_up = None


@contextmanager
def repeated(name: str, every: float, work: Callable[[], object]) -> Iterator[None]:
    """Call a function within this block on a daemon thread, ``every`` seconds after each return."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(every):
            work()

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
