"""Traces: the terms that a sentence was made of, where it was made from a known frame.

Offline scientists hear each other's sentences; reading the slots back out of them is what
understanding means here. Anybody else's sentence has no trace.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache, lru_cache

from agents.offline.frames import FRAMES, mark
from agents.offline.sayings import HEARD

_SLOT = re.compile(r"\{(\w+)\}")
_TERMS = frozenset("abdgortx")
_BY_MARK: dict[str, list[str]] = defaultdict(list)
for _frame in (*HEARD, *(frame for frames in FRAMES.values() for frame in frames)):
    _BY_MARK[mark(_frame)].append(_frame)


@cache
def _pattern(frame: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    parts = _SLOT.split(frame)
    literal = [re.escape(part) for part in parts[::2]]
    return re.compile("(.+?)".join(literal)), tuple(parts[1::2])


@lru_cache(maxsize=4096)
def trace(sentence: str) -> tuple[str, ...] | None:
    """The terms in a sentence made from a known frame, in order, or None."""
    for frame in _BY_MARK.get(mark(sentence), ()):
        pattern, names = _pattern(frame)
        found = pattern.fullmatch(sentence)
        if found:
            pairs = zip(names, found.groups(), strict=True)
            return tuple(value for name, value in pairs if name in _TERMS)
    return None
