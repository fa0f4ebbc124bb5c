"""What is known of a scientist as of a date, to others by a profile and to itself by memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_WORD = re.compile(r"[a-z][a-z-]{3,}")


@dataclass(frozen=True, slots=True)
class Profile:
    """The profile of a scientist (VirSci, Figure 16).

    Attributes:
        id: the masked name (``Scientist12``), unique in the society; also the row's key.
        interests: up to ten research interests, the most frequent first.
        papers: number of papers published before the date of the profile.
        citations: citations received before that date; None: unknown.
        collaborators: masked names of the ten most frequent co-authors, most frequent first.

    Example:
        >>> ada = vs.Profile("Scientist12", interests=("networks", "cells"), papers=4)
        >>> ada.topic, ada.citations
        ('networks', 0)
    """

    id: str
    affiliations: tuple[str, ...] = ()
    interests: tuple[str, ...] = ()
    papers: int = 0
    citations: int | None = 0
    collaborators: tuple[str, ...] = ()

    @property
    def topic(self) -> str:
        """The main topic: the first interest, or an empty string."""
        return self.interests[0] if self.interests else ""


class Recollection(NamedTuple):
    """One line of memory, with the simulated date in days on which it was added."""

    date: float
    team: str
    line: str


def recall(memory: tuple[Recollection, ...], text: str, count: int = 5) -> tuple[str, ...]:
    """Lines of memory that share words with a text: most shared words first, then the newest."""
    wanted = frozenset(_WORD.findall(text.lower()))
    scored = [
        (-len(wanted.intersection(_WORD.findall(entry.line.lower()))), -entry.date, entry)
        for entry in memory
    ]
    # Last of all the entry itself, so that lines of one day stand in one order in every run.
    return tuple(entry.line for score, _, entry in sorted(scored)[:count] if score)
