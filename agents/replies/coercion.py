"""Reads the data of a reply as the fields of a form, where their meaning is plain.

Pydantic refuses "8/10" or "[Action 1]". No number is guessed, averaged or left at 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel

MAX_DEPTH = 64
"""Most levels of lists and tables that are joined to a text."""
SHORT = 400
"""Most characters of a text that may be a number, a choice or a yes."""
_NAME = 100
"""Characters of a name that may mean a field."""
_NOTHING = ("", "none", "null", "n/a", "na", "nil", "nothing", "no", "nobody", "no one")
"""Words for "none"."""

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

_Form = TypeVar("_Form", bound=BaseModel)


class ReadField(NamedTuple):
    """A field of a form: its name in the prompt, its annotation and the upper end of its scale."""

    name: str
    wanted: Any
    most: float | None
    required: bool
    nullable: bool


@cache
def fields_of(form: type[BaseModel]) -> dict[str, ReadField]:
    """The fields of a form by their names in the prompt and in Python, exact and normalised."""
    exact: dict[str, ReadField] = {}
    loose: dict[str, ReadField] = {}
    for own, info in form.model_fields.items():
        name = info.alias or own
        none = NoneType in get_args(info.annotation) or info.annotation in (None, Any)
        most = _upper_bound(info.metadata)
        field = ReadField(name, info.annotation, most, info.is_required(), none)
        exact[name] = field
        # A name of the prompt means its own field, also where another field is called so in Python.
        exact.setdefault(own, field)
        for alike in (normalise_name(name), normalise_name(own)):
            loose.setdefault(alike, field)
    return loose | exact


def field_named(form: type[BaseModel], name: str) -> ReadField | None:
    """The field of a form that a name means; None if it means none."""
    fields = fields_of(form)
    return fields.get(name) or (fields.get(normalise_name(name)) if len(name) <= _NAME else None)


def normalise_name(name: Any) -> str:
    """A name without case, spaces, underscores, hyphens and other marks, for comparison."""
    return "".join(filter(str.isalnum, str(name).casefold()))


def unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object; duplicate keys must have equal values."""
    members = dict(pairs)
    if len(members) < len(pairs):
        for name, value in pairs:
            if members[name] != value:
                raise ValueError(f"{name[:60]!r} appears twice")
    return members


def reject_constant(name: str) -> Any:
    """Refuse NaN and the infinities, which are not JSON."""
    raise ValueError(f"{name} is not a number")


def coerce_to_form(form: type[_Form], data: Any) -> _Form:
    """The form that the data fill."""
    while isinstance(data, list) and len(data) == 1:
        data = data[0]
    if isinstance(data, dict):
        members, rest = _split_members(form, data)
        fields = fields_of(form).values() if len(members) < len(form.model_fields) else ()
        if any(field.required and field.name not in members for field in fields):
            members = _unwrap(form, members, rest)
        data = _coerce_members(form, members)
    return form.model_validate(data)


def _split_members(
    form: type[BaseModel], data: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Members that are fields, under the names of the prompt, and others."""
    members: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in data.items():
        field = field_named(form, name)
        if field is None:
            rest[name] = value
        else:
            _add(members, field.name, value)
    return members, rest


def _add(given: dict[str, Any], name: str, value: Any) -> None:
    if given.setdefault(name, value) != value:
        raise ValueError(f"{name} appears twice")


def _unwrap(form: type[BaseModel], members: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """Move up fields that are nested one level too deep, as in ``{"New Idea": {...}}``."""
    flat: dict[str, Any] = {}
    wrapped = [value for value in rest.values() if isinstance(value, dict)]
    for name, value in members.items():
        inner: dict[str, Any] = {}
        if isinstance(value, dict) and _bare(fields_of(form)[name].wanted) is str:
            inner, other = _split_members(form, value)
        if name in inner:
            wrapped.append(value)
        elif inner and normalise_name(name) == normalise_name(form.__name__):
            wrapped.append({**inner, name: other})
        else:
            flat[name] = value
    for value in wrapped:
        for name, part in _split_members(form, value)[0].items():
            _add(flat, name, part)
    return flat


def _coerce_members(form: type[BaseModel], given: Mapping[str, Any]) -> dict[str, Any]:
    """Coerce each value; null is left out where the field may be left out."""
    fields = fields_of(form)
    read = {}
    for name, value in given.items():
        field = fields[name]
        if value is None and not (field.required or field.nullable):
            continue
        # For speed alone: most members are texts of text fields, and null means the same anywhere.
        plain = value is None or (field.wanted is str and isinstance(value, str))
        read[name] = value if plain else coerce(value, field.wanted, field.most)
    return read


def coerce(value: Any, wanted: Any, most: float | None = None) -> Any:
    """A value as an annotation wants it, where its meaning is plain; else unchanged."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin is Annotated:
        return coerce(value, parts[0], _upper_bound(parts[1:]))
    if origin in (Union, UnionType):
        kinds = [part for part in parts if part is not NoneType]
        if len(kinds) > 1:
            return value
        # To a question of yes or no, "no" is an answer and not the lack of one.
        none = _bare(kinds[0]) not in (str, bool) and is_nothing(value)
        return None if none else coerce(value, kinds[0], most)
    if origin in (list, tuple, set, frozenset):
        alike = len(parts) == 1 or (len(parts) == 2 and parts[1] is ...)
        return _coerce_list(value, parts[0]) if alike else value
    if origin in (dict, Mapping):
        if isinstance(value, str) and "{" not in value:
            # Lines of the form "name: value".
            lines = [line.strip() for line in value.splitlines() if line.strip()]
            rows = [_ROW.fullmatch(line) for line in lines]
            named = {row[1].strip(" *_\"'"): row[2].strip() for row in rows if row}
            value = named if lines and len(named) == len(lines) else value
        if not isinstance(value, dict):
            return value
        return {name: coerce(part, parts[1]) for name, part in value.items()}
    if wanted is str:
        return flatten_to_text(value) if isinstance(value, list | dict) else value
    if isinstance(wanted, type) and issubclass(wanted, BaseModel):
        # The outer form validates a form inside it.
        within = isinstance(value, dict)
        return _coerce_members(wanted, _split_members(wanted, value)[0]) if within else value
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if wanted in (int, float):
        return _coerce_number(value, most)
    if wanted is bool:
        if not isinstance(value, str) or len(value) > SHORT:
            return value
        answer = _ANSWER.match(value)
        # "Yes, but not as it stands" says both: the model is asked again.
        both = _YES.search(value) and _NO.search(value)
        return value if answer is None or both else answer[1].lower() in ("yes", "true")
    options = options_of(wanted)
    return coerce_choice(options, value) if options else value


def options_of(wanted: Any) -> tuple[Any, ...]:
    """The values of a Literal or an Enum; empty for other annotations."""
    if get_origin(wanted) is Literal:
        return get_args(wanted)
    enum = isinstance(wanted, type) and issubclass(wanted, Enum)
    return tuple(member.value for member in wanted) if enum else ()


def _bare(wanted: Any) -> Any:
    """An annotation without metadata and without None."""
    while get_origin(wanted) is Annotated:
        wanted = get_args(wanted)[0]
    kinds = [part for part in get_args(wanted) if part is not NoneType]
    optional = get_origin(wanted) in (Union, UnionType) and len(kinds) == 1
    return _bare(kinds[0]) if optional else wanted


def _upper_bound(bounds: Iterable[Any]) -> float | None:
    """The upper end of a scale: ``le`` among the constraints, also inside a ``Field``."""
    for bound in bounds:
        most = getattr(bound, "le", None)
        if most is None:
            most = _upper_bound(getattr(bound, "metadata", ()))
        if most is not None:
            return float(most)
    return None


def is_nothing(value: Any) -> bool:
    """True for null and for the usual words for it, such as "none" and "n/a"."""
    if isinstance(value, str) and len(value) <= SHORT:
        return value.strip(" \t\r\n.-–—").casefold() in _NOTHING
    return value is None


def flatten_to_text(value: Any, depth: int = 0) -> str:
    """Any JSON value as one readable paragraph, in its own order."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply to be read")
    if isinstance(value, dict):
        named = [
            (str(name).strip(), flatten_to_text(item, depth + 1)) for name, item in value.items()
        ]
        pieces = [f"{name}: {said}" for name, said in named if said]
    elif isinstance(value, list):
        pieces = list(filter(None, (flatten_to_text(item, depth + 1) for item in value)))
    elif value is None or isinstance(value, str):
        return (value or "").strip()
    else:
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    # A piece that ends like a sentence gets no semicolon.
    marked = [piece if piece[-1] in ".!?;:" else f"{piece};" for piece in pieces[:-1]]
    return " ".join([*marked, *pieces[-1:]])


def _coerce_number(value: Any, most: float | None) -> Any:
    """The one exact number of a text of the right scale: 8 of "8/10", "8 out of 10", "Score: 8"."""
    if isinstance(value, bool):
        # As a text, which pydantic refuses for a number; True itself it would read as 1.
        return str(value)
    if isinstance(value, dict):
        rated = [part for name, part in value.items() if normalise_name(name) in _RATED]
        return _coerce_number(rated[0], most) if len(rated) == 1 else value
    if not isinstance(value, str) or len(value) > SHORT or _INEXACT.search(value):
        return value
    scales = {float(ratio[2]) for ratio in _RATIO.finditer(value)}
    if "%" in value:
        scales.add(100.0)
    if not scales <= ({10.0, 100.0} if most is None else {most}) or len(scales) > 1:
        return value
    plain = _NUMBER.findall(_RATIO.sub(r"\1", value))
    exact = {float(text.replace(",", "")) for text in plain}
    return plain[0].replace(",", "") if len(exact) == 1 else value


def coerce_choice(options: Sequence[Any], value: Any) -> Any:
    """The one option that a text names at its beginning: "[Action 1]" or "action1: I join"."""
    if not isinstance(value, str) or len(value) > SHORT or value in options:
        return value
    patterns = {}
    for option in options:
        if isinstance(option, str):
            parts = re.findall(r"[^\W_]+", option) or [re.escape(option)]
            joined = r"[\W_]*".join(parts)
            patterns[option] = re.compile(rf"(?<![^\W_]){joined}(?![^\W_])", re.I)
    named = [option for option, pattern in patterns.items() if pattern.search(value)]
    lead = _LEAD.match(value)
    start = lead.end() if lead else 0
    return named[0] if len(named) == 1 and patterns[named[0]].match(value, start) else value


def _coerce_list(value: Any, item: Any) -> Any:
    """A list from a list, from one item, from numbered lines, or from numbers in a text."""
    numbers = _bare(item) in (int, float)
    if isinstance(value, list):
        pieces = value
    elif isinstance(value, dict) or (numbers and isinstance(value, int | float)):
        pieces = [value]
    elif not isinstance(value, str):
        return value
    elif is_nothing(value):
        pieces = []
    elif numbers:
        if len(value) > SHORT or not _RANKS.fullmatch(value):
            return value
        pieces = re.findall(r"\d+", value, re.A)
    else:
        marks = list(_MARK.finditer(value))
        if marks and not value[: marks[0].start()].strip():
            ends = [*(mark.start() for mark in marks[1:]), len(value)]
            spans = zip(marks, ends, strict=True)
            pieces = [value[mark.end() : end].strip() for mark, end in spans]
        else:
            pieces = [value]
    return [coerce(piece, item) for piece in pieces]
