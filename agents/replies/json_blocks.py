"""Blocks: where in a reply there is JSON.

Work is bounded whatever the text: only its end is looked at, and only so many beginnings are
tried. Nothing is repaired here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

REACH = 262_144
"""Characters at the end of a reply in which a block is looked for: the answer comes last."""
STARTS = 256
"""Opening braces tried, the last ones."""
EFFORT = 2_000_000
"""Characters read over all beginnings that turn out to be no JSON."""

_THOUGHT = re.compile(r"</?(?:think|thinking|reasoning)>", re.IGNORECASE)
_OPENING = re.compile(r"\{(?=\s*[\"}])")
_FENCE = re.compile(r"```")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.?)*+(?P<closed>"?)|[][{}]', re.DOTALL)


class Block(NamedTuple):
    """One JSON object of a reply: what it says, where it starts and where it ends."""

    data: dict[str, Any]
    start: int
    end: int


def aloud(text: str) -> str:
    """The end of a reply, as far as it is looked at, without what was thought before it.

    Words between tags of thought are no answer, also where the thought was never closed.
    """
    text = text[-REACH:]
    marks = list(_THOUGHT.finditer(text))
    if not marks:
        return text
    return bare(text[marks[-1].end() :]) if marks[-1][0].startswith("</") else ""


def bare(text: str) -> str:
    """The text without white space and byte order marks around it."""
    return text.strip(" \t\r\n\ufeff")


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
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


def no_number(name: str) -> Any:
    """Refuse NaN and the infinities, which are no JSON.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"{name} is no number")


STRICT = json.JSONDecoder(object_pairs_hook=once, parse_constant=no_number)
"""Reads JSON and nothing else; raises ValueError or RecursionError."""
LOOSE = json.JSONDecoder(object_pairs_hook=once, parse_constant=no_number, strict=False)
"""Reads JSON in whose strings there may be line breaks."""


class Unfinished(ValueError):
    """The text was cut off: what is missing must be asked for again."""


def blocks(text: str) -> list[Block]:
    """The JSON objects of a text that lie in no other: those in fences first, the last first."""
    found: list[Block] = []
    effort, end = EFFORT, 0
    for start in [match.start() for match in _OPENING.finditer(text)][-STARTS:]:
        if start < end or effort < 0:
            continue
        try:
            data, end = STRICT.raw_decode(text, start)
        except json.JSONDecodeError as error:
            effort -= error.pos - start
        except (ValueError, RecursionError):
            effort -= EFFORT // 16
        else:
            found.append(Block(data, start, end))
    fenced = list(_fenced(text))[-STARTS:]
    found.sort(key=lambda block: (_within(fenced, block), block.start), reverse=True)
    return found


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """From each opening fence to its closing one, or to the end."""
    marks = [mark.start() for mark in _FENCE.finditer(text)]
    for place in range(0, len(marks), 2):
        yield marks[place], marks[place + 1] if place + 1 < len(marks) else len(text)


def _within(spans: list[tuple[int, int]], block: Block) -> bool:
    return any(start < block.start and block.end <= end for start, end in spans)


def outline(text: str) -> tuple[int, int, bool]:
    """Where the brackets of a text that starts with one are closed again.

    Returns:
        ``(end, open, mid)``: behind the last bracket needed, how many brackets stay open
        there, and whether a string does.
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
