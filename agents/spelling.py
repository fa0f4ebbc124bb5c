"""Suggestions for an unknown word, and texts cut to a length or made fit for a terminal."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

_NO_TEXT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
    "|\r(?!\n)"
)


def did_you_mean(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """A hint ``; did you mean 'x'?`` for the nearest known word, or an empty string."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=alike)
    return f"; did you mean {near[0]!r}?" if near else ""


def cut_text(text: str, most: int, mark: str = "…") -> str:
    """The text, cut to ``most`` characters with the mark at the end if it is longer."""
    return text if len(text) <= most else text[: most - len(mark)] + mark


def plain_text(text: str) -> str:
    """The text for a file or page, without control characters, which terminals obey."""
    return _NO_TEXT.sub("\ufffd", text)


def plain_line(text: str) -> str:
    """The text as one line, where white space and control characters become single spaces."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def printable(text: str) -> str:
    """The text with control characters escaped, and with plain spaces."""
    text = text.replace("\u202f", " ").replace("\u00a0", " ")
    return text if text.isprintable() else repr(text)[1:-1]


def read_sections(path: Path) -> dict[str, list[str]]:
    """The lines of a text file by [section], without comments (#)."""
    sections: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            section.append(line)
    return sections
