"""Reads the data of a reply as the fields of a form.

No member of the JSON may stand there twice and differ. Names are compared without case, spaces,
underscores and hyphens, and one level of wrapping is taken off. Each value is coerced to the type
of its field, but only where its meaning is plain; anything else is left as it stands, so that
pydantic refuses it and the model is asked again. No number is guessed, averaged or left at 0.
Written by hand because pydantic's own coercion of "8/10" or "[Action 1]" refuses, and that of "1"
as true guesses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel

Coercer = Callable[[Any], Any]

MAX_DEPTH = 64
"""Most levels of lists and tables that are joined to a text."""
SHORT = 400
"""Most characters of a text that may be a number, a choice or a yes."""
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


def unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object, none of which may stand there twice and differ."""
    members = dict(pairs)
    if len(members) < len(pairs):
        for name, value in pairs:
            if members[name] != value:
                raise ValueError(f"{name[:60]!r} stands there twice")
    return members


def reject_constant(name: str) -> Any:
    """Refuse NaN and the infinities, which are not JSON."""
    raise ValueError(f"{name} is no number")


def normalise_name(name: Any) -> str:
    """A name without case, spaces, underscores, hyphens and other marks, for comparison."""
    return "".join(filter(str.isalnum, str(name).casefold()))


def is_nothing(value: Any) -> bool:
    """True for null and for the usual words for it, such as "none" and "n/a"."""
    if isinstance(value, str) and len(value) <= SHORT:
        return value.strip(" \t\r\n.-–—").casefold() in _NOTHING
    return value is None


def coerce_text(value: Any) -> Any:
    """Lists and tables as one readable paragraph; other values as they are."""
    return flatten_to_text(value) if isinstance(value, list | dict) else value


def flatten_to_text(value: Any, depth: int = 0) -> str:
    """Any JSON value as words, in its own order."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply to be read")
    if isinstance(value, dict):
        told = [
            (str(name).strip(), flatten_to_text(part, depth + 1)) for name, part in value.items()
        ]
        return _join_paragraph(f"{name}: {said}" for name, said in told if said)
    if isinstance(value, list):
        return _join_paragraph(flatten_to_text(part, depth + 1) for part in value)
    if value is None or isinstance(value, str):
        return (value or "").strip()
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _join_paragraph(pieces: Iterable[str]) -> str:
    """Pieces as one paragraph; a piece that ends like a sentence gets no semicolon."""
    filled = [piece for piece in pieces if piece]
    marked = [piece if piece[-1] in ".!?;:" else f"{piece};" for piece in filled[:-1]]
    return " ".join([*marked, *filled[-1:]])


def coerce_number(value: Any, most: float | None = None) -> Any:
    """The one number of a text: 8 of "8/10", "8 out of 10", "Score: 8" and "8.".

    A text that is inexact, has another scale or holds two numbers is returned as it stands; true is
    no 1.
    """
    # Not ``isinstance``: to Python True is an int, and a yes is no 1.
    if type(value) in (int, float):
        return value
    if isinstance(value, bool):
        # As a text, which pydantic refuses for a number; True itself it would read as 1.
        return str(value)
    if isinstance(value, dict):
        rated = [part for name, part in value.items() if normalise_name(name) in _RATED]
        return coerce_number(rated[0], most) if len(rated) == 1 else value
    if isinstance(value, list) and len(value) == 1:
        return coerce_number(value[0], most)
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


def coerce_bool(value: Any) -> Any:
    """The yes or no of a text, such as "Yes.", "[true]" or "No, because ..."."""
    if isinstance(value, list) and len(value) == 1:
        return coerce_bool(value[0])
    if not isinstance(value, str) or len(value) > SHORT:
        return value
    answer = _ANSWER.match(value)
    # "Yes, but not as it stands" says both: the model is asked again.
    if answer is None or (_YES.search(value) and _NO.search(value)):
        return value
    return answer[1].lower() in ("yes", "true")


def coerce_choice(options: Sequence[Any], value: Any) -> Any:
    """The one option that a text names at its beginning: "[Action 1]" or "action1: I join"."""
    if isinstance(value, list) and len(value) == 1:
        return coerce_choice(options, value[0])
    if not isinstance(value, str) or len(value) > SHORT or value in options:
        return value
    patterns = {option: _option_pattern(option) for option in options if isinstance(option, str)}
    named = [option for option, pattern in patterns.items() if pattern.search(value)]
    lead = _LEAD.match(value)
    start = lead.end() if lead else 0
    return named[0] if len(named) == 1 and patterns[named[0]].match(value, start) else value


@cache
def _option_pattern(option: str) -> re.Pattern[str]:
    parts = re.findall(r"[^\W_]+", option) or [re.escape(option)]
    return re.compile(r"(?<![^\W_])" + r"[\W_]*".join(parts) + r"(?![^\W_])", re.I)


def coerce_list(item: Coercer, numbers: bool, value: Any) -> Any:
    """A list from a list, from one item, from numbered lines, or from numbers in a text."""
    if isinstance(value, list):
        return [item(one) for one in value]
    if isinstance(value, dict) or (numbers and isinstance(value, int | float)):
        return [item(value)]
    if not isinstance(value, str):
        return value
    if is_nothing(value):
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


def coerce_mapping(item: Coercer, value: Any) -> Any:
    """A mapping from a mapping, or from lines of the form "name: value"; ``item`` coerces one."""
    if isinstance(value, dict):
        return {name: item(part) for name, part in value.items()}
    if not isinstance(value, str) or "{" in value:
        return value
    lines = [line.strip() for line in value.splitlines() if line.strip()]
    rows = [_ROW.fullmatch(line) for line in lines]
    named = {row[1].strip(" *_\"'"): item(row[2].strip()) for row in rows if row}
    return named if lines and len(named) == len(lines) else value


_Form = TypeVar("_Form", bound=BaseModel)
_NAME = 100
"""Characters of a name that may mean a field."""
_LISTS = (list, tuple, set, frozenset)


@dataclass(frozen=True, slots=True)
class FieldReader:
    """How one field is read."""

    name: str
    coerce: Coercer
    required: bool
    nullable: bool


@dataclass(frozen=True, slots=True)
class FormReader:
    """How a form is read."""

    exact: Mapping[str, FieldReader]
    loose: Mapping[str, FieldReader]
    required: frozenset[str]

    def field_named(self, name: str) -> FieldReader | None:
        """The field that a name means; None if it means none."""
        known = self.exact.get(name)
        return known or (self.loose.get(normalise_name(name)) if len(name) <= _NAME else None)

    def split_members(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Split members into fields, under the names of the prompt, and others."""
        given: dict[str, Any] = {}
        rest: dict[str, Any] = {}
        for name, value in data.items():
            field = self.field_named(name)
            if field is None:
                rest[name] = value
            elif field.name in given:
                _add(given, field.name, value)
            else:
                given[field.name] = value
        return given, rest


def coerce_to_form(form: type[_Form], data: Any) -> _Form:
    """The form that the data fill."""
    while isinstance(data, list) and len(data) == 1:
        data = data[0]
    if isinstance(data, dict):
        reader = form_reader(form)
        given, rest = reader.split_members(data)
        if not reader.required <= given.keys():
            given = _unwrap(form, reader, given, rest)
        data = _read(reader, given)
    return form.model_validate(data)


def _unwrap(
    form: type[BaseModel], reader: FormReader, given: dict[str, Any], rest: dict[str, Any]
) -> dict[str, Any]:
    """Bring up fields that stand one level deeper, as in ``{"New Idea": {...}}``."""
    flat: dict[str, Any] = {}
    wrapped = [value for value in rest.values() if isinstance(value, dict)]
    for name, value in given.items():
        field = reader.exact[name]
        inner, other = (
            reader.split_members(value)
            if isinstance(value, dict) and field.coerce is coerce_text
            else ({}, {})
        )
        if name in inner:
            wrapped.append(value)
        elif inner and normalise_name(name) == normalise_name(form.__name__):
            wrapped.append({**inner, name: other})
        else:
            flat[name] = value
    for value in wrapped:
        for name, part in reader.split_members(value)[0].items():
            _add(flat, name, part)
    return flat


def _add(given: dict[str, Any], name: str, value: Any) -> None:
    if name in given and given[name] != value:
        raise ValueError(f"{name} stands there twice")
    given[name] = value


def _read(reader: FormReader, given: Mapping[str, Any]) -> dict[str, Any]:
    """Coerce each value; null is left out where the field may be left out."""
    read = {}
    for name, value in given.items():
        field = reader.exact[name]
        # For speed alone: most members are texts of text fields, which ``coerce_text`` keeps.
        if isinstance(value, str) and field.coerce is coerce_text:
            read[name] = value
        elif value is not None or field.required or field.nullable:
            read[name] = field.coerce(value)
    return read


def _inner_form(form: type[BaseModel], value: Any) -> Any:
    """Coerce the members of a form inside a form; the outer form validates them."""
    if not isinstance(value, dict):
        return value
    reader = form_reader(form)
    return _read(reader, reader.split_members(value)[0])


@cache
def form_reader(form: type[BaseModel]) -> FormReader:
    """The reader of a form, made once."""
    exact: dict[str, FieldReader] = {}
    loose: dict[str, FieldReader] = {}
    for own, info in form.model_fields.items():
        name = info.alias or own
        coerce = coercer_for(info.annotation, tuple(info.metadata))
        none = NoneType in get_args(info.annotation) or info.annotation in (None, Any)
        field = FieldReader(name, coerce, info.is_required(), none)
        exact[name] = field
        # A name of the prompt means its own field, also where another field is called so in Python.
        exact.setdefault(own, field)
        for alike in (normalise_name(name), normalise_name(own)):
            loose.setdefault(alike, field)
    required = frozenset(field.name for field in exact.values() if field.required)
    return FormReader(exact, loose, required)


def coercer_for(wanted: Any, bounds: tuple[Any, ...] = ()) -> Coercer:
    """The coercion for an annotation; values of unknown annotations are left as they stand."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin is Annotated:
        return coercer_for(parts[0], parts[1:])
    if wanted in (int, float):
        return partial(coerce_number, most=_upper_bound(bounds))
    if origin is Literal:
        return partial(coerce_choice, parts)
    if origin in (Union, UnionType):
        return _optional_coercer(tuple(part for part in parts if part is not NoneType))
    if origin in _LISTS:
        return _list_coercer(parts)
    if origin in (dict, Mapping):
        return partial(coerce_mapping, coercer_for(parts[1]))
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return partial(coerce_choice, tuple(one.value for one in wanted))
    if isinstance(wanted, type) and issubclass(wanted, BaseModel):
        return partial(_inner_form, wanted)
    return {str: coerce_text, bool: coerce_bool}.get(wanted, _unchanged)


def _upper_bound(bounds: tuple[Any, ...]) -> float | None:
    """The upper end of a scale: ``le`` among the constraints, also inside a ``Field``."""
    for bound in bounds:
        most = getattr(bound, "le", None)
        if most is None:
            most = _upper_bound(tuple(getattr(bound, "metadata", ())))
        if most is not None:
            return float(most)
    return None


def _optional_coercer(parts: tuple[Any, ...]) -> Coercer:
    if len(parts) != 1:
        return _unchanged
    coerce = coercer_for(parts[0])
    if coerce is coerce_text:
        return coerce

    def read(value: Any) -> Any:
        # To a question of yes or no, "no" is an answer and not the lack of one.
        return None if coerce is not coerce_bool and is_nothing(value) else coerce(value)

    return read


def _list_coercer(parts: tuple[Any, ...]) -> Coercer:
    if not parts or (len(parts) > 1 and parts[1] is not ...):
        return _unchanged
    coerce = coercer_for(parts[0])
    return partial(
        coerce_list, coerce, isinstance(coerce, partial) and coerce.func is coerce_number
    )


def _unchanged(value: Any) -> Any:
    return value
