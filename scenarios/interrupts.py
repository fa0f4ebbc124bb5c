"""Interrupts: Ctrl-C and SIGTERM end a running society soon, and nothing is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from agents.errors import Stopped

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruptible(Protocol):
    """A society, or whatever else asks a model and can be stopped."""

    def interrupt(self, reason: Stopped) -> None:
        """Stop soon; called by a signal handler."""


@contextmanager
def interruptible(society: Interruptible) -> Iterator[None]:
    """Let a signal stop the society at its next event; a second one stops at once.

    Every answer that has come is in the journal by then, so even the second loses nothing but
    what is still under way.
    """
    noticed: list[int] = []

    def notice(number: int, _: FrameType | None) -> None:
        # Runs between two instructions of whatever the main thread does: no lock, no print.
        if noticed:
            os._exit(Stopped.exit_code)
        noticed.append(number)
        society.interrupt(Stopped(f"interrupted by {signal.Signals(number).name}"))

    before = {}
    try:
        for number in SIGNALS:
            before[number] = signal.signal(number, notice)
    except ValueError:
        pass  # not on the main thread: signals are somebody else's there
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
