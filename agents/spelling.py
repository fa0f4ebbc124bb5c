"""Spelling: the known word that is nearest to one that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """``; did you mean 'x'?`` for the nearest spelling that is ``alike`` enough, or nothing."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=alike)
    return f"; did you mean {near[0]!r}?" if near else ""
