"""Memory: what a scientist recalls of its own work, its teams and its teammates."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = re.compile(r"[a-z][a-z-]{3,}")


class Recollection(NamedTuple):
    """One line of memory: when it became part of it, from which team, in which words."""

    date: float
    team: str
    line: str


def recall(memory: tuple[Recollection, ...], text: str, count: int = 5) -> tuple[str, ...]:
    """Up to ``count`` lines that share words with ``text``: most shared first, newest first.

    Pure: ``memory`` is the snapshot taken on the clock when the question was put.
    """
    wanted = frozenset(_WORD.findall(text.lower()))
    scored = [
        (-len(wanted.intersection(_WORD.findall(entry.line.lower()))), -entry.date, entry)
        for entry in memory
    ]
    return tuple(entry.line for score, _, entry in sorted(scored)[:count] if score)
