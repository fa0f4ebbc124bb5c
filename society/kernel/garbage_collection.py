"""How often Python looks for objects that only refer to one another while a society runs."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (20_000, 20, 20)
"""New objects between two searches, searches of the youngest generation between two of the middle
one, and of the middle one between two of everything."""
GROWTH = 1.5
"""Growth of the memory in use since the last full collection at which a new run begins with another
one: a society that has ended is a cycle of references."""

_lock = threading.Lock()
_running = 0
_before = gc.get_threshold()
_known = 0


@contextmanager
def infrequent_collection() -> Iterator[None]:
    """Collect seldom, and only among new objects, while runs last: it saves a fifth of a run."""
    global _before, _known, _running
    with _lock:
        if _running == 0:
            _before = gc.get_threshold()
            # The collector passes over frozen objects, so a search costs only what is new.
            gc.freeze()
            # Counted by the pages of memory: to count what is frozen takes a look at every object.
            if 0 < GROWTH * _known < sys.getallocatedblocks():
                gc.unfreeze()
                gc.collect()
                gc.freeze()
                _known = 0
            _known = _known or sys.getallocatedblocks()
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
