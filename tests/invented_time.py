"""An event loop whose time passes only when everybody waits for it.

What takes hours of waiting is played in as long as its work takes, and always in the same order.
Nothing may wait for another thread or for a socket. A loop on which nothing is left to happen
raises, so whoever would wait for ever fails the test.
"""

import asyncio
from typing import TypeVar

Told = TypeVar("Told")


class InventedTime(asyncio.SelectorEventLoop):
    """A loop that adds up the waits instead of making them."""

    def __init__(self):
        super().__init__()
        self._now = 1000.0
        really = self._selector.select

        def select(timeout):
            if timeout is None:
                raise AssertionError("everybody waits for ever")
            self._now += timeout
            return really(0)

        self._selector.select = select

    def time(self):
        """Seconds of invented time; it begins at 1000."""
        return self._now


def play(scene):
    """Run a scene in invented time."""
    with asyncio.Runner(loop_factory=InventedTime) as runner:
        return runner.run(scene())


def now():
    """The invented time, within a scene."""
    return asyncio.get_running_loop().time()
