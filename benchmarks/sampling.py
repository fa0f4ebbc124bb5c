"""Where the processor time of a block of code goes, by looks at the stack of the main thread."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

EVERY = 0.002
"""Seconds of processor time of the process between two looks."""
REST = "the rest"


@contextmanager
def sampled(parts: Mapping[str, tuple[str, ...]]) -> Iterator[Counter[str]]:
    """Count the looks at the stack by part of the program while the block runs.

    Args:
        parts: for each part the names of functions by which it is known. A look counts to the part
            of the innermost function that is one of them, and to ``REST`` if there is none.

    Yields:
        The counts, which grow; other threads' time is counted to where the main thread stands.
    """
    counts: Counter[str] = Counter()
    part_of = {name: part for part, names in parts.items() for name in names}

    def look(_: int, frame: FrameType | None) -> None:
        while frame is not None and frame.f_code.co_name not in part_of:
            frame = frame.f_back
        counts[REST if frame is None else part_of[frame.f_code.co_name]] += 1

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        yield counts
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def shares(counts: Counter[str]) -> dict[str, float]:
    """Share of each part, the largest first."""
    whole = max(counts.total(), 1)
    return {part: round(count / whole, 3) for part, count in counts.most_common()}
