"""The pace of Python's garbage collector during a run.

By default the collector looks for reference cycles after every 700 new objects, and now and then
among all objects there are. A society holds millions of objects that live as long as it does, and
a call to a model makes thousands that live for a moment. Searching seldom saves a fifth of a run's
time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (20_000, 20, 20)
"""New objects between two searches, searches of the youngest generation between two of the middle
one, and of the middle one between two of everything."""


@contextmanager
def infrequent_collection() -> Iterator[None]:
    """Collect seldom for the length of a run, and never among the objects that exist already."""
    before = gc.get_threshold()
    # The collector passes over frozen objects, so a search costs only what is new.
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
