"""Invented names in the place of masked ones, where people read.

A person is ``Scientist12`` in every table, file, prompt and answer, so that no model and no rule
meets a name. Pages and terminals show an invented name instead, which is easier to remember and
to tell from another one. It follows from the number alone: the same person bears the same name on
every page of every run. ``SOCIETY_NAMES=masked`` in the environment keeps the masked names.
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


def keeps_masked_names() -> bool:
    """Whether the environment asks for masked names."""
    return os.environ.get("SOCIETY_NAMES") == "masked"


def invented_name(masked: str) -> str:
    """The invented name of a person; any other text is returned as it is.

    Args:
        masked: a masked name, such as ``Scientist12``.
    """
    found = _MASKED.fullmatch(masked)
    return _named(found) if found else masked


def masked_name(invented: str) -> str:
    """The masked name for an invented one; any other text is returned as it is.

    Args:
        invented: a name or the id of a team as a page shows it, such as ``Brezabes/1``.
    """
    return _INVENTED.sub(_numbered, invented, count=1)


def with_invented_names(text: str) -> str:
    """A text for people: every masked name in it is an invented one."""
    return text if keeps_masked_names() else _MASKED.sub(_named, text)


class NamesOnPage:
    """Invented names for a page that people answer on, and the way back for what they write.

    Only names that the page has shown become masked again: any other word of an answer stays.
    """

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def invented(self, text: str) -> str:
        """The text as the page shows it."""
        if keeps_masked_names():
            return text
        self._shown.update(found[0] for found in _MASKED.finditer(text))
        return with_invented_names(text)

    def masked(self, text: str) -> str:
        """An answer as the society reads it."""
        return _INVENTED.sub(self._as_shown, text)

    def _as_shown(self, found: re.Match[str]) -> str:
        masked = _numbered(found)
        return masked if masked in self._shown else found[0]


def _named(found: re.Match[str]) -> str:
    number = int(found[1])
    if number >= COUNT:
        return found[0]
    place, chosen = (FIRST + number * STEP) % COUNT, []
    for part in reversed(PARTS):
        place, one = divmod(place, len(part))
        chosen.append(part[one])
    return "".join(reversed(chosen)).capitalize()


def _numbered(found: re.Match[str]) -> str:
    place = 0
    for part, letters in zip(PARTS, found.groups(), strict=True):
        place = place * len(part) + part.index(letters.lower())
    return f"Scientist{(place - FIRST) * _BACK % COUNT}"
