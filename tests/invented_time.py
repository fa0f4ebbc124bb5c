"""An event loop whose time passes only when everybody waits for it.

What takes hours of waiting is played in as long as its work takes, and always in the same order.
Nothing may wait for another thread or for a socket. A loop on which nothing is left to happen
raises, so whoever would wait for ever fails the test.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Told = TypeVar("Told")


class InventedTime(asyncio.SelectorEventLoop):
    """A loop that adds up the waits instead of making them."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 1000.0
        really = self._selector.select  # type: ignore[attr-defined]

        def select(timeout: float | None) -> Any:
            if timeout is None:
                raise AssertionError("everybody waits for ever")
            self._now += timeout
            return really(0)

        self._selector.select = select  # type: ignore[attr-defined]

    def time(self) -> float:
        """Seconds of invented time; it begins at 1000."""
        return self._now


def play(scene: Callable[[], Coroutine[Any, Any, Told]]) -> Told:
    """Run a scene in invented time."""
    with asyncio.Runner(loop_factory=InventedTime) as runner:
        return runner.run(scene())


def now() -> float:
    """The invented time, within a scene."""
    return asyncio.get_running_loop().time()
