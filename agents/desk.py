"""Desk: an event loop in a thread of its own, for those who ask without one."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any


class Desk:
    """An event loop in a thread of its own, for all requests of a process.

    litellm shares connections among models, and a connection belongs to one loop.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        run = self._loop.run_forever
        self._thread = threading.Thread(target=run, name="embedding", daemon=True)
        self._thread.start()
        self._transports: set[Any] = set()
        atexit.register(self._leave)

    def ask(self, what: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Run a coroutine there."""
        return asyncio.run_coroutine_threadsafe(what, self._loop)

    def close(self, transports: set[Any]) -> None:
        """Close these connections."""

        async def close() -> None:
            while transports:
                await transports.pop().aclose()

        self.ask(close()).result(timeout=10)

    def note(self, transports: set[Any]) -> None:
        """Close these at the end, whoever has forgotten to."""
        self._transports |= transports

    def _leave(self) -> None:
        if not self._thread.is_alive():  # in a process that was forked off
            return
        with contextlib.suppress(TimeoutError):
            self.close(self._transports)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)


def our_desk() -> Desk:
    """The desk of this process."""
    return _desk_of(os.getpid())


@cache
def _desk_of(process: int) -> Desk:
    """The desk of a process; one that has been forked off has no thread of its parent's."""
    return Desk()
