"""Collector: Python's search for circles of garbage, kept from going round the whole world.

It starts after every 700 new objects and now and then looks at all there are. A society holds
millions that live as long as it does, and a call to a model makes thousands that live for a
moment: unhurried, the search costs a fifth less of a run's time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

UNHURRIED = (20_000, 20, 20)
"""New objects between two searches, searches of the youngest between two of the middle
generation, and of those between two of everything."""


@contextmanager
def unhurried() -> Iterator[None]:
    """For the length of a run, search seldom, and not among what is there already."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*UNHURRIED)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
