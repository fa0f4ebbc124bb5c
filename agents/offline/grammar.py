"""The frames of the offline scientist's sentences, and the terms read back out of them."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache, lru_cache
from typing import Final

from virsci_society.agents.offline.text import read_sections, with_article

FRAMES: Final = {name: tuple(lines) for name, lines in read_sections("frames.txt").items()}
"""Frames by kind."""
PARTS: Final = ("introduction", "objective", "methods", "results", "conclusion")
"""The kinds that are the parts of an abstract, in their order."""
HEARD: Final = tuple(kind for kind in FRAMES if kind not in ("directions", "titles", "unruled"))
"""The kinds whose sentences others may hear or read, and take terms from."""
UNTITLED: Final = "A joint study of an open question"
_SLOT = re.compile(r"\{(\w+)\}")
_AS_IT_STANDS = ("who", "d")
"""Slots of names and directions, which take no article."""


def fill(frame: str, **terms: str) -> str:
    """A frame with its terms by slot, each with the article that it wants."""
    return frame.format_map(
        {
            slot: term if slot in _AS_IT_STANDS else with_article(term)
            for slot, term in terms.items()
        }
    )


def frame_mark(text: str) -> str:
    """The first two words of a sentence or frame, by which its frame is recognised."""
    return " ".join(text.split(" ", 2)[:2]).lower().rstrip(",")


MARKS: Final = {
    frame_mark(frame): "objective" if kind == "cores" else kind
    for kind in ("cores", *PARTS)
    for frame in FRAMES[kind]
}
"""The part that each mark belongs to; an idea's own sentence counts as the objective."""
# Lists, because frames that begin alike differ further on.
_BY_MARK: dict[str, list[str]] = defaultdict(list)
for _kind in HEARD:
    for _frame in FRAMES[_kind]:
        _BY_MARK[frame_mark(_frame)].append(_frame)


@cache
def _pattern(frame: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern that reads the slots of a frame, and their names."""
    parts = _SLOT.split(frame)
    return re.compile("(.+?)".join(map(re.escape, parts[::2]))), tuple(parts[1::2])


@lru_cache(maxsize=4096)
def frame_terms(sentence: str) -> tuple[str, ...] | None:
    """The terms in a sentence made from a known frame, in order; None for other sentences."""
    for frame in _BY_MARK.get(frame_mark(sentence), ()):
        pattern, names = _pattern(frame)
        if match := pattern.fullmatch(sentence):
            pairs = zip(names, match.groups(), strict=True)
            return tuple(value for name, value in pairs if name != "who")
    return None
