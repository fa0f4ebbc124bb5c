"""The pace of Python's garbage collector during a run.

By default the collector looks for reference cycles after every 700 new objects, and now and then
among all objects there are. A society holds millions of objects that live as long as it does, and
a call to a model makes thousands that live for a moment. Searching seldom saves a fifth of a run's
time.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (20_000, 20, 20)
"""New objects between two searches, searches of the youngest generation between two of the middle
one, and of the middle one between two of everything."""


_lock = threading.Lock()
_running = 0
_before = gc.get_threshold()


@contextmanager
def infrequent_collection() -> Iterator[None]:
    """Collect seldom for the length of a run, and never among the objects that exist already.

    Runs may overlap, in several threads of one process: the pace before the first of them is set
    again when the last one ends.
    """
    global _before, _running
    with _lock:
        if _running == 0:
            _before = gc.get_threshold()
            # The collector passes over frozen objects, so a search costs only what is new.
            gc.freeze()
            gc.set_threshold(*THRESHOLDS)
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0:
                gc.set_threshold(*_before)
                gc.unfreeze()
