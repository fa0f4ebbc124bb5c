"""Watch: while a run waits for a model, what it waits for is told now and then.

The clock tells of every step it makes. It makes none while it waits for words, and that may
take a minute when a model is slow and an hour when its provider is down.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenarios.progress import Progress
    from society.model import Society

EVERY = 5.0


@contextmanager
def watched(society: Society, told: Progress, every: float = EVERY) -> Iterator[None]:
    """Tell ``told`` every few seconds how the calls stand, from a thread of its own."""
    gateway = society.dispatcher.gateway
    if gateway.inline:
        yield
        return
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(every):
            if not gateway.shut:
                told.wait(f"day {society.day:.0f} of {society.until:.0f}; {gateway.standing()}")

    thread = threading.Thread(target=watch, name="watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
