"""Reads broken JSON as data, only where nothing of it is lost or made up.

``json_repair`` guesses, and its guesses are checked against the text. Where a JSON reader is lost,
the names of the form are read as labels: ``Name: value``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, SupportsIndex

from pydantic import BaseModel

from virsci_society.agents.replies.coercion import (
    field_named,
    normalise_name,
    options_of,
    reject_constant,
    unique_members,
)

MAX_CHARACTERS = 65_536
"""Characters of a text that is repaired."""
MAX_DEPTH = 64
"""Levels of brackets in a text that is repaired."""
MAX_LOOKUPS = 400_000
"""Characters that json_repair may look at: for some texts it takes the square of their length."""
MAX_LOST = 1
"""Letters that a repair may drop, as the last one of ``7.50``."""
MAX_STRINGS = 1_000
"""Strings in a text that is repaired."""
MAX_BARE = 24
"""Characters of a value with digits that may stand without quotes, as ``8/10``."""

OPENING, CLOSING = "\"'“‘„", "\"'”’“"
_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_MEANT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LITERALS = {"None": None, "undefined": None, "NaN": None, "True": True, "False": False}
"""Python and JavaScript literals; NaN is read as missing."""
_MEMBER = re.compile(r"[\"'”’]\s*(?:,\s*)?[\"'“‘][^\"'“”‘’\n]{1,60}[\"'”’]\s*:")
_CHOICE = re.compile(r"\[[^][{}\"]*\]")
_ENDED = re.compile(r"(?<!\d\.)(?<=[.!?…。！？])[)\]\"'”’*_`]*\Z")
_RATIO = re.compile(r"\d\s*(?:/|of)\s*\d+\.?")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.?)*+(?P<closed>"?)|[][{}]', re.DOTALL)
_BRACKET = re.compile(r"[](){}[]")
_COMMENT = re.compile(r'("(?:[^"\\]|\\.?)*+"?)|(?<![:\w])//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_EMPTY = re.compile(r"[:,\[]\s*(?:\"\s*\"|'\s*')")
LOOSE = json.JSONDecoder(
    object_pairs_hook=unique_members, parse_constant=reject_constant, strict=False
)
"""Reads JSON in whose strings there may be line breaks."""


class Unfinished(ValueError):
    """The text was cut off: what is missing must be asked for again."""


@cache
def name_pattern(form: type[BaseModel]) -> str:
    """A pattern for every name that a field of the form has."""
    names = {
        name
        for own, info in form.model_fields.items()
        for name in (own, info.alias or own)
        if re.search(r"\w", name)
    }
    # The longest first: a pattern takes the first alternative that fits, and not the longest.
    parts = [
        re.findall(r"[^\W_]+", name) for name in sorted(names, key=lambda name: (-len(name), name))
    ]
    return "|".join(r"[\s_-]?".join(map(re.escape, one)) for one in parts) or r"(?!)"


@cache
def opening_pattern(form: type[BaseModel]) -> re.Pattern[str]:
    """A pattern for a brace that is followed by a name of the form."""
    return re.compile(rf"\{{\s*[{OPENING}*]*(?:{name_pattern(form)})[{CLOSING}*]*\s*[:=]", re.I)


@cache
def _unquoted_pattern(form: type[BaseModel]) -> re.Pattern[str]:
    """A pattern for a name of the form without quotes, where a member begins."""
    return re.compile(rf"[\n{{,][ \t]*(?:{name_pattern(form)})[ \t]*[:=]", re.I)


@cache
def _label_pattern(form: type[BaseModel], lines: bool) -> re.Pattern[str]:
    """A pattern for the beginning of a member, in lines without braces or inside of braces."""
    names = name_pattern(form)
    if lines:
        mark = r"(?:\(?\d{1,2}[.)]|[-•#>]{1,6}|\*[ \t])?+[ \t]*+"
        before = rf"^[ \t]*+{mark}[*_{OPENING}]*+"
        return re.compile(rf"{before}({names})[*_{CLOSING}]*+[ \t]*+[:=][*_]*+[ \t]*+", re.I | re.M)
    before = rf"(?:\A\s*+|(?<=[\n{{,])[ \t]*+)[{OPENING}*]*+"
    return re.compile(rf"{before}({names})[{CLOSING}*]*+\s*+[:=]\s*+", re.I)


def read_labels(
    text: str, form: type[BaseModel], *, lines: bool = False, closed: bool = False
) -> dict[str, Any]:
    """The members of an object, or of lines, each from its name up to the next name."""
    marks = list(_label_pattern(form, lines).finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    said = [
        (mark[1], text[mark.end() : end].strip().rstrip(", \t\r\n"))
        for mark, end in zip(marks, ends, strict=True)
    ]
    if not said:
        raise ValueError("no JSON object")
    for name, value in said:
        if not value:
            raise ValueError(f"{name}: nothing is said")
    if len({normalise_name(name) for name, _ in said}) < len(said):
        raise ValueError("a field stands there twice")
    name, last = said[-1]
    field = field_named(form, name)
    # Of a field of few values none begins another.
    choice = field is not None and (field.wanted is bool or bool(options_of(field.wanted)))
    ended = _ended(last) if lines else closed or _read_value(last) != last
    if not (ended or choice):
        raise Unfinished("cut off")
    return {
        name: _unquoted(value) if lines and value[0] not in "[{" else _read_value(value)
        for name, value in said
    }


def read_lines(text: str, form: type[BaseModel]) -> dict[str, Any]:
    """The members that stand at the beginnings of lines, each up to the next."""
    return read_labels(text, form, lines=True)


def _read_value(said: str) -> Any:
    """A value: JSON, a literal of Python, a text in quotes, or plain words."""
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
        return unescape(inner)
    if said[0] in "[{" and not _CHOICE.match(said):
        raise ValueError("broken JSON")
    return said


def _unquoted(said: str) -> str:
    inner = said[1:-1]
    quoted = len(said) > 1 and said[-1] == _PAIRS.get(said[0])
    return inner if quoted and not set(inner) & set(OPENING) else said


def _ended(said: str) -> bool:
    """True if the words end like a sentence, or are a number with its scale."""
    return _ENDED.search(said[-20:]) is not None or _RATIO.fullmatch(said) is not None


def unescape(text: str) -> str:
    """The text that a JSON string with these characters means."""

    def meant(escape: re.Match[str]) -> str:
        return chr(int(escape[1], 16)) if escape[1] else _MEANT.get(escape[2], escape[2])

    return _ESCAPE.sub(meant, text) if "\\" in text else text


def repair_json(text: str, form: type[BaseModel], cut: bool = False) -> Any:
    """The data of a broken JSON object."""
    # One character more than is allowed, so that a text which is too long can be told.
    text = text[: MAX_CHARACTERS + 1]
    end, depth, mid = _bracket_extent(text)
    if depth:
        # An object that is never closed ends with its fence; behind it stands other text.
        text = text[: text.find("```")] if "```" in text else text
        end, depth, mid = _bracket_extent(text)
    text = text[:end]
    _check_bounds(text)
    if depth and not mid and not cut:
        # Nothing but the last brace may be missing.
        whole = text.rstrip()
        if text != whole or whole[-1] in ',"]}':
            try:
                return LOOSE.decode(whole.removesuffix(",") + "}")
            except (ValueError, RecursionError):
                pass
    # Quotes inside quotes can hide the closing brace, so a brace at the end may be it.
    if depth and (cut or not mid or not text.rstrip().endswith("}")):
        raise Unfinished("cut off")
    text = _straighten_quotes(text).strip()

    def labelled() -> dict[str, Any]:
        return read_labels(text[1:].removesuffix("}"), form, closed=not depth)

    readings: list[Callable[[], dict[str, Any]]] = [labelled, lambda: _repair_verified(text, form)]
    if not _unquoted_pattern(form).search(text):
        readings.reverse()
    try:
        return readings[0]()
    except Unfinished:
        # A ValueError too, but another reading must not fill in what was cut off.
        raise
    except ValueError:
        return readings[1]()


def _bracket_extent(text: str) -> tuple[int, int, bool]:
    """Where the first bracket of a text is closed, else how many are open, and if a string is."""
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


def _check_bounds(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"broken JSON of more than {MAX_CHARACTERS} characters")
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth + 1 if bracket[0] in "([{" else max(0, depth - 1)
        if depth > MAX_DEPTH:
            raise ValueError(f"broken JSON of more than {MAX_DEPTH} levels")


def _straighten_quotes(text: str) -> str:
    """Typographic quotes as plain ones where there are no others; comments removed."""
    if '"' not in text:
        text = re.sub("[“”„]", '"', text)
        if '"' not in text and "'" not in text:
            text = re.sub("[‘’]", "'", text)
    return _COMMENT.sub(lambda part: part[1] or " ", text) if "/" in text else text


class _CountedText(str):
    """A text that raises ValueError when it and its parts have been indexed too often."""

    lookups: list[int]

    def __getitem__(self, place: SupportsIndex | slice) -> str:
        self.lookups[0] -= 1
        if self.lookups[0] < 0:
            raise ValueError("too tangled to be repaired")
        part = str.__getitem__(self, place)
        return limit_lookups(part, self.lookups) if len(part) > 1 else part

    def __add__(self, other: str) -> str:
        return limit_lookups(str.__add__(self, other), self.lookups)


def limit_lookups(text: str, lookups: list[int]) -> str:
    """A text that raises ValueError when it has been indexed so many times."""
    counted = _CountedText(text)
    counted.lookups = lookups
    return counted


def _repair_verified(text: str, form: type[BaseModel]) -> dict[str, Any]:
    """The data that json_repair reads, if they say what the text says."""
    from json_repair import loads

    try:
        data = LOOSE.decode(text)
    except (ValueError, RecursionError):
        try:
            # Plain JSON was tried already; here it would also accept NaN and repeated names.
            data = loads(limit_lookups(text, [MAX_LOOKUPS]), skip_json_loads=True)
        # Whatever the library raises becomes one error of ours where it enters (rule 4).
        except Exception as error:
            raise ValueError(f"not JSON: {type(error).__name__}") from error
        _check_nothing_lost(text, data, form)
    if not isinstance(data, dict):
        raise ValueError("no JSON object")
    return data


def _check_nothing_lost(text: str, data: Any, form: type[BaseModel]) -> None:
    """Check that the data say what the text says."""
    written = json.dumps(data, ensure_ascii=False)
    if abs(_letters(text) - _letters(written)) > MAX_LOST:
        raise ValueError("broken JSON of which words would be lost")
    label = re.compile(rf"(?:{name_pattern(form)})[\"'”’]?\s*:", re.I)
    if len(label.findall(text)) != len(label.findall(written)):
        raise ValueError("broken JSON with a field that stands there twice")
    strings = list(_strings(data))
    empty = sum(not string.strip() for string in strings)
    if len(strings) >= MAX_STRINGS or empty > len(_EMPTY.findall(text)):
        raise ValueError("broken JSON in which something is not said")
    plain, place = "".join(unescape(text).split()), 0
    for string in filter(str.strip, strings):
        # As a value of its own, in the text without spaces.
        said = "".join(string.split())
        wanted = [f'"{said}"', f"'{said}'", f"“{said}”"]
        if len(said) <= MAX_BARE and any(map(str.isdigit, said)):
            wanted += [f":{said},", f":{said}}}"]
        places = [plain.find(one, start) for start in (place, 0) for one in wanted]
        place = next((found for found in places if found >= 0), -1)
        if place < 0:
            raise ValueError("broken JSON that could be read in more than one way")


def _letters(text: str) -> int:
    return len(re.findall(r"\w", unescape(text)))


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _strings(part)
