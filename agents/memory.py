"""The memory of a scientist, and the recall of its lines by shared words."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = re.compile(r"[a-z][a-z-]{3,}")


class Recollection(NamedTuple):
    """One line of memory.

    Attributes:
        date: simulated date in days on which it was added.
        team: id of the team that it is about.
        line: its words.
    """

    date: float
    team: str
    line: str


def recall(memory: tuple[Recollection, ...], text: str, count: int = 5) -> tuple[str, ...]:
    """Lines of memory that share words with a text: most shared words first, then the newest.

    It is a pure function of a snapshot that was taken on the clock when the question was asked.

    Args:
        memory: the snapshot.
        text: the text to compare with.
        count: most lines to return (>= 0).
    """
    wanted = frozenset(_WORD.findall(text.lower()))
    scored = [
        (-len(wanted.intersection(_WORD.findall(entry.line.lower()))), -entry.date, entry)
        for entry in memory
    ]
    return tuple(entry.line for score, _, entry in sorted(scored)[:count] if score)
