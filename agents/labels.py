"""Labels: members of a form that stand in a text as ``Name: value``, with or without quotes.

Knowing the names of the form, its members are found where a JSON reader is lost: names or
prose without quotes, quotes inside quotes, line breaks, or lines without any brace.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel

from agents.blocks import LOOSE, Unfinished
from agents.fitting import plan_of
from agents.kinds import choice, truth

OPENING, CLOSING = "\"'“‘„", "\"'”’“"
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_MEANT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“"}
_LITERALS = {"None": None, "undefined": None, "NaN": None, "True": True, "False": False}
"""What Python and JavaScript write; a number that is none is nothing said."""
_MEMBER = re.compile(r"[\"'”’]\s*(?:,\s*)?[\"'“‘][^\"'“”‘’\n]{1,60}[\"'”’]\s*:")
_CHOICE = re.compile(r"\[[^][{}\"]*\]")
_ENDED = re.compile(r"(?<!\d\.)(?<=[.!?…。！？])[)\]\"'”’*_`]*\Z")
_RATIO = re.compile(r"\d\s*(?:/|of)\s*\d+\.?")


@cache
def names(form: type[BaseModel]) -> str:
    """A pattern of every name that a field of the form has."""
    said = {name for name in plan_of(form).exact if re.search(r"\w", name)}
    parts = [re.findall(r"[^\W_]+", name) for name in sorted(said, key=len, reverse=True)]
    return "|".join(r"[\s_-]?".join(map(re.escape, one)) for one in parts) or r"(?!)"


@cache
def opening(form: type[BaseModel]) -> re.Pattern[str]:
    """A brace that is followed by a name of the form."""
    return re.compile(rf"\{{\s*[{OPENING}*]*(?:{names(form)})[{CLOSING}*]*\s*[:=]", re.I)


@cache
def unquoted(form: type[BaseModel]) -> re.Pattern[str]:
    """A name of the form that stands without quotes where a member begins."""
    return re.compile(rf"[\n{{,][ \t]*(?:{names(form)})[ \t]*[:=]", re.I)


@cache
def member(form: type[BaseModel]) -> re.Pattern[str]:
    """Where a member begins, inside of braces."""
    return re.compile(
        rf"(?:\A\s*+|(?<=[\n{{,])[ \t]*+)[{OPENING}*]*+({names(form)})[{CLOSING}*]*+\s*+[:=]\s*+",
        re.I,
    )


@cache
def line(form: type[BaseModel]) -> re.Pattern[str]:
    """Where a member begins, in lines without braces."""
    mark = r"(?:\(?\d{1,2}[.)]|[-•#>]{1,6}|\*[ \t])?+[ \t]*+"
    return re.compile(
        rf"^[ \t]*+{mark}[*_{OPENING}]*+({names(form)})[*_{CLOSING}]*+[ \t]*+[:=][*_]*+[ \t]*+",
        re.I | re.M,
    )


def labelled(text: str, form: type[BaseModel], closed: bool = True) -> dict[str, Any]:
    """The members of an object with some names or values that lack their quotes.

    Args:
        text: the object with its braces.
        form: whose names are looked for.
        closed: the last brace is surely that of the object, and not of its last words.

    Raises:
        Unfinished: the last member may have been cut.
        ValueError: a member stands there twice or cannot be told from the next.
    """
    body = text[1:].removesuffix("}")
    found = _apart(list(member(form).finditer(body)), body)
    name, last = found[-1]
    if not closed and _value(last) == last and not _either(form, name):
        raise Unfinished("cut off")
    return {name: _value(said) for name, said in found}


def lines(text: str, form: type[BaseModel]) -> dict[str, Any]:
    """The members that stand at the beginnings of lines, each up to the next.

    Raises:
        Unfinished: the last of them may have been cut.
        ValueError: there are none, or one stands there twice.
    """
    found = _apart(list(line(form).finditer(text)), text)
    name, said = found[-1]
    if not _ended(said) and not _either(form, name):
        raise Unfinished("cut off")
    return {name: _value(said) if said[0] in "[{" else _unquoted(said) for name, said in found}


def _apart(marks: Sequence[re.Match[str]], text: str) -> list[tuple[str, str]]:
    """Each name with the text up to the next."""
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    found = [
        (mark[1], text[mark.end() : end].strip().rstrip(", \t\r\n"))
        for mark, end in zip(marks, ends, strict=True)
    ]
    if not found:
        raise ValueError("no JSON object")
    for name, said in found:
        if not said:
            raise ValueError(f"{name}: nothing is said")
    if len({"".join(filter(str.isalnum, name.casefold())) for name, _ in found}) < len(found):
        raise ValueError("a field stands there twice")
    return found


def _value(said: str) -> Any:
    """JSON, a literal of Python, a text in quotes, or plain words."""
    if said in _LITERALS:
        return _LITERALS[said]
    try:
        return LOOSE.decode(said)
    except (ValueError, RecursionError):
        pass
    if said[0] in OPENING:
        inner = said[1:-1]
        if len(said) < 2 or said[-1] != _PAIRS[said[0]] or _MEMBER.search(inner):
            raise ValueError("a quote is not closed")
        return meant(inner)
    if said[0] in "[{" and not _CHOICE.match(said):
        raise ValueError("broken JSON")
    return said


def _unquoted(said: str) -> str:
    inner = said[1:-1]
    quoted = len(said) > 1 and said[-1] == _PAIRS.get(said[0])
    return inner if quoted and not set(inner) & set(OPENING) else said


def _either(form: type[BaseModel], name: str) -> bool:
    """True for a field of few values, none of which begins another."""
    field = plan_of(form).find(name)
    return field is not None and getattr(field.kind, "func", field.kind) in (truth, choice)


def _ended(said: str) -> bool:
    """True if words end like a sentence, or a number with its scale."""
    return _ENDED.search(said[-20:]) is not None or _RATIO.fullmatch(said) is not None


def meant(text: str) -> str:
    """The text that a JSON string with these characters means."""
    return _ESCAPE.sub(_escaped, text) if "\\" in text else text


def _escaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _MEANT.get(escape[2], escape[2])
