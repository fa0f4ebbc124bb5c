"""Handlers for SIGINT and SIGTERM, and the command line that resumes what was stopped."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import FrameType

from virsci_society.agents.errors import Interrupted, Stopped

ARGUMENTS: ContextVar[tuple[str, ...] | None] = ContextVar("ARGUMENTS", default=None)
"""The command line without the program's name; None outside a command."""
RESUME_WITH = "; resume with --set "
"""In the reason of a stop, before a larger budget."""
THE_SAME = "the same command"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
POLL_SECONDS = 0.2
"""Seconds between two looks at whether a signal has come."""


class SignalWatch:
    """The first signal that came, for loops that look at it from time to time."""

    def __init__(self) -> None:
        self.reason: Stopped | None = None

    def record_signal(self, number: int, _: FrameType | None = None) -> Stopped:
        """Keep the signal as the reason to stop; a second signal ends the process at once."""
        # Runs between two instructions of the main thread: no lock, no print (rule 3).
        if self.reason is not None:
            os._exit(Stopped.exit_code)
        self.reason = Interrupted(f"interrupted by {signal.Signals(number).name}")
        return self.reason


@contextmanager
def watch_signals() -> Iterator[SignalWatch]:
    """Record SIGINT and SIGTERM within this block instead of ending the process."""
    watch = SignalWatch()
    with _handled(SIGNALS, watch.record_signal):
        yield watch


@contextmanager
def interruptible(interrupt: Callable[[Stopped], None]) -> Iterator[None]:
    """Let a signal stop a society or a review soon; a second signal ends the process at once."""
    watch = SignalWatch()
    with _handled(SIGNALS, lambda number, _: interrupt(watch.record_signal(number))):
        yield


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt for SIGTERM within this block, as Python does for Ctrl-C."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with _handled((signal.SIGTERM,), interrupt):
        yield


def ignore_interrupts() -> None:
    """Ignore SIGINT for good in a worker process, whose command alone decides when it stops."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _handled(
    numbers: Sequence[signal.Signals], handler: Callable[[int, FrameType | None], object]
) -> Iterator[None]:
    before = {}
    with suppress(ValueError):  # not on the main thread
        for number in numbers:
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            # None stands for a handler that was not installed from Python and cannot be set.
            with suppress(TypeError):
                signal.signal(number, old)


def resuming_command(words: Sequence[str], setting: str = "") -> str:
    """A command line that is given again."""
    if not setting:
        return shlex.join(["society", *words]) if words else ""
    key = setting.partition("=")[0]
    kept = list(words)
    for at in reversed(range(len(words))):
        if words[at].startswith(f"--set={key}="):
            del kept[at]
        elif words[at] == "--set" and "".join(words[at + 1 : at + 2]).startswith(f"{key}="):
            del kept[at : at + 2]
    return resuming_command([*kept, "--set", setting])
