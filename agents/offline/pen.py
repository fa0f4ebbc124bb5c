"""Pen: an abstract taken apart into sentences, and the writing of new ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.offline.chance import pick
from agents.offline.frames import FRAMES, MARKED, MARKS, PARTS, mark
from agents.offline.phrases import NEUTRAL, without
from agents.offline.words import count, sentence, shortened

_ORDER = {part: i for i, part in enumerate(PARTS)}
_LONGEST = 60


class Text:
    """An abstract under revision: its sentences, and the part of each.

    Which part a sentence belongs to is read from its mark, because a reviser sees nothing but
    the words; a stranger's sentence counts with the part before it.
    """

    def __init__(self, lines: Sequence[str], part: str = PARTS[0]) -> None:
        self.lines: list[str] = []
        self.parts: list[str] = []
        for line in lines:
            short = sentence(line if count(line) <= _LONGEST else shortened(line, _LONGEST))
            part = MARKS.get(mark(short), part)
            self.lines.append(short)
            self.parts.append(part)

    def __str__(self) -> str:
        return " ".join(self.lines)

    @property
    def words(self) -> int:
        """Number of words."""
        return sum(map(count, self.lines))

    def marks(self) -> frozenset[str]:
        """The marks of the sentences, to be looked up only."""
        return frozenset(map(mark, self.lines))

    def add(self, part: str, line: str) -> None:
        """Put a sentence behind the last one of its part or of the parts before it."""
        ends = [i + 1 for i, other in enumerate(self.parts) if _ORDER[other] <= _ORDER[part]]
        at = max(ends, default=0)
        self.lines.insert(at, line)
        self.parts.insert(at, part)

    def drop(self, at: int) -> None:
        """Take a sentence out."""
        del self.lines[at], self.parts[at]

    def open_to_change(self) -> list[int]:
        """Positions that may be rewritten: all but the sentence that carries the idea."""
        core = self.parts.index("objective") if "objective" in self.parts else 0
        return [i for i in range(len(self.lines)) if i != core]


class Pen:
    """Writes sentences from frames, never twice from the same one while others are left."""

    def __init__(
        self,
        theme: Sequence[str],
        terms: Sequence[str],
        own: Sequence[str],
        rng: np.random.Generator,
    ) -> None:
        self.theme, self.terms, self.own, self.rng = theme, terms, own, rng
        self.turn = int(rng.random() * 8)

    def write(self, part: str, text: Text, must: str | None = None) -> str:
        """A new sentence for a part; ``must`` is a term that it has to contain."""
        used = text.marks()
        fresh = [frame for marked, frame in MARKED[part] if marked not in used]
        frame = pick(fresh or FRAMES[part], self.rng)
        self.turn += 1
        o = must or self.own[self.turn % len(self.own)]
        fresh_terms = without(self.terms, [o])
        rest = [*fresh_terms, *without(NEUTRAL, [o, *fresh_terms])]
        a = rest[self.turn % max(1, len(fresh_terms))]
        left = without(rest, [a])
        b = left[self.turn % max(1, len(fresh_terms) - 1)]
        t = [*without(self.theme, [a, b, o]), *without(left, [b])][0]
        slots = {"t": t, "a": a, "b": b, "o": o}
        if must is not None and "{o}" not in frame:
            slots["a" if "{a}" in frame else "b"] = must
        return sentence(frame.format_map(slots))
