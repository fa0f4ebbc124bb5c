"""Suggestions for an unknown word, and texts cut to a length or made fit for a terminal."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """A hint ``; did you mean 'x'?`` for the nearest known word, or an empty string.

    Args:
        alike: least similarity of the two, from 0 to 1.
    """
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=alike)
    return f"; did you mean {near[0]!r}?" if near else ""


def cut_text(text: str, most: int, mark: str = "…") -> str:
    """A text of at most so many characters; one that is longer ends with the mark."""
    return text if len(text) <= most else text[: most - len(mark)] + mark


def printable(text: str) -> str:
    """The text with control characters escaped, so that a terminal does not obey them.

    Spaces that do not break, as pages have them in numbers, become plain ones.
    """
    text = text.replace("\u202f", " ").replace("\u00a0", " ")
    return text if text.isprintable() else repr(text)[1:-1]
