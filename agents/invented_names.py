"""Invented names in the place of masked ones, where people read.

A name follows from the number of ``Scientist12`` alone; ``SOCIETY_NAMES=masked`` turns them off.
"""

from __future__ import annotations

import math
import os
import re

PARTS = (
    ("b", "br", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v"),
    ("a", "e", "i", "o", "u"),
    ("d", "g", "k", "l", "lm", "m", "n", "nd", "r", "rk", "rv", "s", "st", "t", "v", "z"),
    ("a", "e", "i", "o", "u"),
    ("b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z"),
    ("a", "e", "i", "o", "u"),
    ("", "n", "r", "s", "l"),
)
"""What a name is made of, in this order: one of each."""
COUNT = math.prod(map(len, PARTS))
"""Names that there are; people with greater numbers keep their masked name."""
STEP, FIRST = 1_582_087, 1_199_921
"""Names of neighbouring numbers lie ``STEP`` places apart, so that they look different; it has no
factor in common with ``COUNT``, so that no two people share a name."""
_BACK = pow(STEP, -1, COUNT)

_MASKED = re.compile(r"Scientist(0|[1-9]\d{0,6})(?!\w)")
_INVENTED = re.compile(
    r"(?<!\w)(?=[A-Z])(?i:"
    + "".join(f"({'|'.join(sorted(part, key=len, reverse=True))})" for part in PARTS)
    + r")(?!\w)"
)


def masked_name(invented: str) -> str:
    """The masked name for an invented one; any other text is returned as it is."""
    return _INVENTED.sub(_numbered, invented, count=1)


def with_invented_names(text: str) -> str:
    """A text for people: every masked name in it is an invented one."""
    kept = os.environ.get("SOCIETY_NAMES") == "masked"
    return text if kept else _MASKED.sub(_named, text)


def _named(match: re.Match[str]) -> str:
    number = int(match[1])
    if number >= COUNT:
        return match[0]
    number_left, chosen = (FIRST + number * STEP) % COUNT, []
    for part in reversed(PARTS):
        number_left, syllable = divmod(number_left, len(part))
        chosen.append(part[syllable])
    return "".join(reversed(chosen)).capitalize()


def _numbered(match: re.Match[str]) -> str:
    number = 0
    for part, letters in zip(PARTS, match.groups(), strict=True):
        number = number * len(part) + part.index(letters.lower())
    return f"Scientist{(number - FIRST) * _BACK % COUNT}"
