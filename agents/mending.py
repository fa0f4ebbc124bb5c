"""Mending: broken JSON as data, only where nothing of it is lost or made up.

json_repair guesses, and its guesses are checked against the text: each string that it read
stands there between quotes, no words are gone, nothing was filled in, nothing was cut.
Nothing is evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, SupportsIndex

from pydantic import BaseModel

from agents.blocks import LOOSE, Unfinished, outline
from agents.labels import labelled, meant, names, unquoted

LONGEST = 65_536
"""Characters of a text that is mended."""
DEEPEST = 64
"""Levels of brackets in a text that is mended."""
LOOKS = 400_000
"""Characters that json_repair may look at: for some texts it takes the square of their length."""
LOST = 1
"""Letters that mending may drop, as the last one of ``7.50``."""
STRINGS = 1_000
"""Strings in a text that is mended."""
BARE = 24
"""Characters of a value with digits that may stand without quotes, as ``8/10``."""

_BRACKET = re.compile(r"[](){}[]")
_COMMENT = re.compile(r'("(?:[^"\\]|\\.?)*+"?)|(?<![:\w])//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_EMPTY = re.compile(r"[:,\[]\s*(?:\"\s*\"|'\s*')")


class _Watched(str):
    """A text that counts how often it is looked at; its parts share the count."""

    looks: list[int]

    def __getitem__(self, place: SupportsIndex | slice) -> str:
        self.looks[0] -= 1
        if self.looks[0] < 0:
            raise ValueError("too tangled to be mended")
        part = str.__getitem__(self, place)
        return watched(part, self.looks) if len(part) > 1 else part

    def __add__(self, other: str) -> str:
        return watched(str.__add__(self, other), self.looks)


def watched(text: str, looks: list[int]) -> str:
    """A text that raises ValueError when it has been looked at so many times."""
    made = _Watched(text)
    made.looks = looks
    return made


def mend(text: str, form: type[BaseModel], cut: bool = False) -> Any:
    """The data of a broken JSON object.

    Args:
        text: from its opening brace; it may go on behind the end of the object.
        form: whose names may stand there without quotes.
        cut: the text is known to be cut off, so no bracket may be missing.

    Raises:
        Unfinished: it was cut off.
        ValueError: it cannot be mended without guessing.
    """
    text, depth, mid = _object(text[: LONGEST + 1])
    _bounded(text)
    if depth and not mid and not cut:
        return _closed(text)
    # Quotes inside quotes can hide the closing brace, so a brace at the end may be it.
    if depth and (cut or not text.rstrip().endswith("}")):
        raise Unfinished("cut off")
    text = _straight(text).strip()
    if unquoted(form).search(text):
        return _first(partial(labelled, text, form, not depth), partial(repaired, text, form))
    return _first(partial(repaired, text, form), partial(labelled, text, form, not depth))


def _first(way: Callable[[], Any], other: Callable[[], Any]) -> Any:
    try:
        return way()
    except Unfinished:
        raise
    except ValueError:
        return other()


def _object(text: str) -> tuple[str, int, bool]:
    """The object alone, how many of its brackets stay open, and whether a string does."""
    end, depth, mid = outline(text)
    if depth:
        text = text[: text.find("```")] if "```" in text else text
        end, depth, mid = outline(text)
    return text[:end], depth, mid


def _bounded(text: str) -> None:
    if len(text) > LONGEST:
        raise ValueError(f"broken JSON of more than {LONGEST} characters")
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth + 1 if bracket[0] in "([{" else max(0, depth - 1)
        if depth > DEEPEST:
            raise ValueError(f"broken JSON of more than {DEEPEST} levels")


def _closed(text: str) -> Any:
    """The data of an object of which nothing but the last brace is missing.

    Raises:
        Unfinished: it was cut inside of a member; a number at its end may have gone on.
    """
    whole = text.rstrip()
    if text != whole or whole[-1] in ',"]}':
        try:
            return LOOSE.decode(whole.removesuffix(",") + "}")
        except (ValueError, RecursionError):
            pass
    raise Unfinished("cut off")


def _straight(text: str) -> str:
    """Typographic quotes as plain ones where there are no others, and no comments."""
    if '"' not in text:
        text = re.sub("[“”„]", '"', text)
        if '"' not in text and "'" not in text:
            text = re.sub("[‘’]", "'", text)
    return _COMMENT.sub(lambda part: part[1] or " ", text) if "/" in text else text


def repaired(text: str, form: type[BaseModel]) -> dict[str, Any]:
    """What json_repair makes of a text, where it made nothing up.

    Raises:
        ValueError: it did, or it could not.
    """
    try:
        data = LOOSE.decode(text)
    except (ValueError, RecursionError):
        data = _guessed(text)
        _vouched(text, data, form)
    if not isinstance(data, dict):
        raise ValueError("no JSON object")
    return data


def _guessed(text: str) -> Any:
    from json_repair import loads

    try:
        return loads(watched(text, [LOOKS]), skip_json_loads=True)
    except Exception as error:
        raise ValueError(f"not JSON: {type(error).__name__}") from error


def _vouched(text: str, data: Any, form: type[BaseModel]) -> None:
    """Check that the data say what the text says.

    Raises:
        ValueError: something is lost, filled in, or stands there twice.
    """
    told = json.dumps(data, ensure_ascii=False)
    if abs(_letters(text) - _letters(told)) > LOST:
        raise ValueError("broken JSON of which words would be lost")
    label = re.compile(rf"(?:{names(form)})[\"'”’]?\s*:", re.I)
    if len(label.findall(text)) != len(label.findall(told)):
        raise ValueError("broken JSON with a field that stands there twice")
    strings = list(islice(_strings(data), STRINGS))
    empty = sum(not string.strip() for string in strings)
    if len(strings) == STRINGS or empty > len(_EMPTY.findall(text)):
        raise ValueError("broken JSON in which something is not said")
    plain, place = "".join(meant(text).split()), 0
    for string in strings:
        place = _find(string, plain, place) if string.strip() else place
        if place < 0:
            raise ValueError("broken JSON that could be read in more than one way")


def _letters(text: str) -> int:
    return len(re.findall(r"\w", meant(text)))


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _strings(part)


def _find(string: str, plain: str, place: int) -> int:
    """Where the string stands in the text without spaces, as a value of its own; -1: nowhere."""
    said = "".join(string.split())
    wanted = [f'"{said}"', f"'{said}'", f"“{said}”"]
    if len(said) <= BARE and any(map(str.isdigit, said)):
        wanted += [f":{said},", f":{said}}}"]
    places = [plain.find(one, start) for start in (place, 0) for one in wanted]
    return next((found for found in places if found >= 0), -1)
