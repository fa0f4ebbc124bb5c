"""Kinds: what a model wrote in a field, as the kind of value that the field wants.

A value is changed only where its meaning is plain; anything else is left as it stands, so that
the form refuses it and the model is asked again. No number is guessed, averaged or left at 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

Kind = Callable[[Any], Any]

DEEP = 64
"""Levels of lists and tables that are joined to a text."""
SHORT = 400
"""Characters up to which a text may be a number, a choice or a yes."""
_NOTHING = ("", "none", "null", "n/a", "na", "nil", "nothing", "no", "nobody", "no one")
"""Words for "there is none"."""

_PLAIN = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d{1,3})?"
_NUMBER = re.compile(rf"(?<![\w.]){_PLAIN}(?!\w|\.\d)", re.A | re.I)
_RATIO = re.compile(
    rf"(?<![\w.])({_PLAIN})\s*(?:/|(?:out )?of|on a scale (?:of|from)(?: \d+ ?(?:to|-|–))?)\s*"
    r"(\d+)(?:\.0+)?(?!\w|\.\d|/)",
    re.A | re.I,
)
_INEXACT = re.compile(
    r"[<>≤≥]|\b(?:at (?:least|most)|(?:less|more|fewer) than|under|over|below|above|up to|not)\b",
    re.I,
)
_RATED = ("score", "rating", "value")
_LEAD = re.compile(
    r"(?:[\W_]|\b(?:i|we|my|the|is|to|will|would|choose|chose|select|selected|pick|take|go|with"
    r"|for|choice|decision|answer|action(?!\W*\d)|option(?!\W*\d))\b)*",
    re.I,
)
_ANSWER = re.compile(r"\W*(yes|true|no|false)\b\s*(?:[^\w\s]|$)", re.I)
_YES, _NO = re.compile(r"\b(?:yes|true)\b", re.I), re.compile(r"\b(?:no|not|false)\b|n't\b", re.I)
_MARK = re.compile(r"^[ \t]*(?:\(?\d{1,3}[.):]|[-*•])[ \t]+", re.M)
_RANKS = re.compile(
    r"(?:[\s,;&#()[\]]|\b(?:and|(?:paper|reference|ref|no)s?\.?)(?!\w)|\d{1,6}(?!\d))*", re.A | re.I
)
_ROW = re.compile(r"(?:\(?\d{1,3}[.)]|[-*•])?\s*([^:=\n]{1,80})[:=](.+)")


def folded(name: Any) -> str:
    """A name without case, spaces, underscores, hyphens and other marks."""
    return "".join(filter(str.isalnum, str(name).casefold()))


def nothing(value: Any) -> bool:
    """True for null and the usual words for it."""
    if isinstance(value, str) and len(value) <= SHORT:
        return value.strip(" \t\r\n.-–—").casefold() in _NOTHING
    return value is None


def text(value: Any) -> Any:
    """Lists and tables as one readable paragraph."""
    return joined(value) if isinstance(value, list | dict) else value


def joined(value: Any, depth: int = 0) -> str:
    """Any JSON as words in its own order.

    Raises:
        ValueError: it is nested more than 64 levels deep.
    """
    if depth > DEEP:
        raise ValueError("nested too deeply to be read")
    if isinstance(value, dict):
        told = [(str(name).strip(), joined(part, depth + 1)) for name, part in value.items()]
        return _run(f"{name}: {said}" for name, said in told if said)
    if isinstance(value, list):
        return _run(joined(part, depth + 1) for part in value)
    if value is None or isinstance(value, str):
        return (value or "").strip()
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _run(pieces: Iterable[str]) -> str:
    """One paragraph; what ends like a sentence needs no mark between."""
    said = [piece for piece in pieces if piece]
    marks = [piece if piece[-1] in ".!?;:" else f"{piece};" for piece in said[:-1]]
    return " ".join([*marks, *said[-1:]])


def number(value: Any, most: float | None = None) -> Any:
    """The one number of a text: 8 of "8/10", "8 out of 10", "Score: 8" and "8.".

    What is inexact, of another scale than ``most`` or has two numbers is left as it stands,
    and so is true, which is no 1.
    """
    if type(value) in (int, float):
        return value
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, dict):
        rated = [part for name, part in value.items() if folded(name) in _RATED]
        return number(rated[0], most) if len(rated) == 1 else value
    if isinstance(value, list) and len(value) == 1:
        return number(value[0], most)
    if not isinstance(value, str) or len(value) > SHORT or _INEXACT.search(value):
        return value
    scales = {float(ratio[2]) for ratio in _RATIO.finditer(value)}
    if "%" in value:
        scales.add(100.0)
    if not scales <= ({10.0, 100.0} if most is None else {most}) or len(scales) > 1:
        return value
    plain = _NUMBER.findall(_RATIO.sub(r"\1", value))
    exact = {float(one.replace(",", "")) for one in plain}
    return plain[0].replace(",", "") if len(exact) == 1 else value


def truth(value: Any) -> Any:
    """The yes or no of a text: "Yes.", "[true]", "No, because ..."."""
    if isinstance(value, list) and len(value) == 1:
        return truth(value[0])
    if not isinstance(value, str) or len(value) > SHORT:
        return value
    said = _ANSWER.match(value)
    if said is None or (_YES.search(value) and _NO.search(value)):
        return value
    return said[1].lower() in ("yes", "true")


def choice(options: Sequence[Any], value: Any) -> Any:
    """The one option that a text names at its beginning: "[Action 1]", "action1: I join"."""
    if isinstance(value, list) and len(value) == 1:
        return choice(options, value[0])
    if not isinstance(value, str) or len(value) > SHORT or value in options:
        return value
    told = {option: _named(option) for option in options if isinstance(option, str)}
    named = [option for option, pattern in told.items() if pattern.search(value)]
    lead = _LEAD.match(value)
    start = lead.end() if lead else 0
    return named[0] if len(named) == 1 and told[named[0]].match(value, start) else value


@cache
def _named(option: str) -> re.Pattern[str]:
    parts = re.findall(r"[^\W_]+", option) or [re.escape(option)]
    return re.compile(r"(?<![^\W_])" + r"[\W_]*".join(parts) + r"(?![^\W_])", re.I)


def several(item: Kind, numbers: bool, value: Any) -> Any:
    """A list: as it is, of one, of numbered lines, or of numbers in a text."""
    if isinstance(value, list):
        return [item(one) for one in value]
    if isinstance(value, dict) or (numbers and isinstance(value, int | float)):
        return [item(value)]
    if not isinstance(value, str):
        return value
    if nothing(value):
        return []
    if numbers:
        plain = len(value) <= SHORT and _RANKS.fullmatch(value)
        return [item(one) for one in re.findall(r"\d+", value, re.A)] if plain else value
    marks = list(_MARK.finditer(value))
    if not marks or value[: marks[0].start()].strip():
        return [item(value)]
    ends = [*(mark.start() for mark in marks[1:]), len(value)]
    pieces = zip(marks, ends, strict=True)
    return [item(value[mark.end() : end].strip()) for mark, end in pieces]


def table(item: Kind, value: Any) -> Any:
    """A table of names and values: as it is, or as lines "name: value"."""
    if isinstance(value, dict):
        return {name: item(part) for name, part in value.items()}
    if not isinstance(value, str) or "{" in value:
        return value
    lines = [line.strip() for line in value.splitlines() if line.strip()]
    rows = [_ROW.fullmatch(line) for line in lines]
    named = {row[1].strip(" *_\"'"): item(row[2].strip()) for row in rows if row}
    return named if lines and len(named) == len(lines) else value
