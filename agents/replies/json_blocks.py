"""Finds the JSON objects in the text of a reply.

Work is bounded whatever the text: only its end is searched, and only so many opening braces are
tried. Nothing is repaired here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

REACH = 262_144
"""Characters at the end of a reply that are searched for blocks: the answer comes last."""
STARTS = 256
"""Opening braces tried, the last ones."""
EFFORT = 2_000_000
"""Characters read over all beginnings that turn out to be no JSON."""

_THOUGHT = re.compile(r"</?(?:think|thinking|reasoning)>", re.IGNORECASE)
_OPENING = re.compile(r"\{(?=\s*[\"}])")
_FENCE = re.compile(r"```")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.?)*+(?P<closed>"?)|[][{}]', re.DOTALL)


class JsonBlock(NamedTuple):
    """One JSON object in a text.

    Attributes:
        data: the object.
        start: position of its opening brace.
        end: position behind its closing brace.
    """

    data: dict[str, Any]
    start: int
    end: int


def strip_reasoning(text: str) -> str:
    """The last ``REACH`` characters of a reply, without the reasoning before the answer.

    Words between reasoning tags are no answer, also where the last tag was never closed.
    """
    text = text[-REACH:]
    marks = list(_THOUGHT.finditer(text))
    if not marks:
        return text
    return strip_blank(text[marks[-1].end() :]) if marks[-1][0].startswith("</") else ""


def strip_blank(text: str) -> str:
    """The text without white space and byte order marks around it."""
    return text.strip(" \t\r\n\ufeff")


def unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object, none of which may stand there twice and differ.

    Raises:
        ValueError: one does; which of the two was meant cannot be known.
    """
    members = dict(pairs)
    if len(members) < len(pairs):
        for name, value in pairs:
            if members[name] != value:
                raise ValueError(f"{name[:60]!r} stands there twice")
    return members


def reject_constant(name: str) -> Any:
    """Refuse NaN and the infinities, which are not JSON.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{name} is no number")


STRICT = json.JSONDecoder(object_pairs_hook=unique_members, parse_constant=reject_constant)
"""Reads JSON and nothing else; raises ValueError or RecursionError."""
LOOSE = json.JSONDecoder(
    object_pairs_hook=unique_members, parse_constant=reject_constant, strict=False
)
"""Reads JSON in whose strings there may be line breaks."""


class Unfinished(ValueError):
    """The text was cut off: what is missing must be asked for again."""


def find_blocks(text: str) -> list[JsonBlock]:
    """The JSON objects of a text that lie in no other: fenced ones first, the last first."""
    found: list[JsonBlock] = []
    effort, end = EFFORT, 0
    for start in [match.start() for match in _OPENING.finditer(text)][-STARTS:]:
        if start < end or effort < 0:
            continue
        try:
            data, end = STRICT.raw_decode(text, start)
        except json.JSONDecodeError as error:
            effort -= error.pos - start
        except (ValueError, RecursionError):
            # These errors do not say how far the text was read, so a fixed share is charged.
            effort -= EFFORT // 16
        else:
            found.append(JsonBlock(data, start, end))
    fenced = list(_fenced(text))[-STARTS:]
    found.sort(key=lambda block: (_within(fenced, block), block.start), reverse=True)
    return found


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each fenced part; the last one may end with the text."""
    marks = [mark.start() for mark in _FENCE.finditer(text)]
    for place in range(0, len(marks), 2):
        yield marks[place], marks[place + 1] if place + 1 < len(marks) else len(text)


def _within(spans: list[tuple[int, int]], block: JsonBlock) -> bool:
    return any(start < block.start and block.end <= end for start, end in spans)


def bracket_extent(text: str) -> tuple[int, int, bool]:
    """Find where the first bracket of a text is closed.

    Returns:
        ``(end, open, mid)``: position behind the last bracket needed, number of brackets that stay
        open there, and whether a string does.
    """
    depth = 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return token.end(), 0, False
        elif not token["closed"]:
            return len(text), depth, True
    return len(text), depth, False
