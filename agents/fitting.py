"""Fitting: what a model wrote, as a form.

Names are compared without case, spaces, underscores and hyphens; one level of wrapping is
taken off; each value is read as the kind that its field wants. The form itself then decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel

from agents.kinds import Kind, choice, folded, nothing, number, several, table, text, truth

_Form = TypeVar("_Form", bound=BaseModel)
_NAME = 100
"""Characters of a name that may mean a field."""
_LISTS = (list, tuple, set, frozenset)


@dataclass(frozen=True, slots=True)
class Field:
    """How one field is read: its name in the prompt, its kind, and when it may be left out."""

    name: str
    kind: Kind
    required: bool
    says_none: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """How a form is read: its fields by every name they have, and by folded name."""

    exact: Mapping[str, Field]
    loose: Mapping[str, Field]
    required: frozenset[str]

    def find(self, name: str) -> Field | None:
        """The field that is meant by a name."""
        known = self.exact.get(name)
        return known or (self.loose.get(folded(name)) if len(name) <= _NAME else None)

    def sort(self, data: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Members that are fields, under the names of the prompt, and members that are not.

        Raises:
            ValueError: a field stands there twice with two values.
        """
        given: dict[str, Any] = {}
        rest: dict[str, Any] = {}
        for name, value in data.items():
            field = self.exact.get(name) or self.find(name)
            if field is None:
                rest[name] = value
            elif field.name in given:
                _add(given, field.name, value)
            else:
                given[field.name] = value
        return given, rest


def fit(form: type[_Form], data: Any) -> _Form:
    """The form as the data fill it.

    Raises:
        ValueError: they do not; a ``pydantic.ValidationError`` says where.
        RecursionError: they are nested too deeply.
    """
    while isinstance(data, list) and len(data) == 1:
        data = data[0]
    if isinstance(data, dict):
        plan = plan_of(form)
        given, rest = plan.sort(data)
        if not plan.required <= given.keys():
            given = _unwrapped(form, plan, given, rest)
        data = _read(plan, given)
    return form.model_validate(data)


def _unwrapped(
    form: type[BaseModel], plan: Plan, given: dict[str, Any], rest: dict[str, Any]
) -> dict[str, Any]:
    """Fields that stand one level deeper, as in ``{"New Idea": {...}}``, brought up.

    A field of text is a wrapping only if it holds itself, or is called like the form.
    """
    flat: dict[str, Any] = {}
    wrapped = [value for value in rest.values() if isinstance(value, dict)]
    for name, value in given.items():
        field = plan.exact[name]
        inner, other = (
            plan.sort(value) if isinstance(value, dict) and field.kind is text else ({}, {})
        )
        if name in inner:
            wrapped.append(value)
        elif inner and folded(name) == folded(form.__name__):
            wrapped.append({**inner, name: other})
        else:
            flat[name] = value
    for value in wrapped:
        for name, part in plan.sort(value)[0].items():
            _add(flat, name, part)
    return flat


def _add(given: dict[str, Any], name: str, value: Any) -> None:
    if name in given and given[name] != value:
        raise ValueError(f"{name} stands there twice")
    given[name] = value


def _read(plan: Plan, given: Mapping[str, Any]) -> dict[str, Any]:
    """Each value as its kind; null is nothing said where a field may be left out."""
    read = {}
    for name, value in given.items():
        field = plan.exact[name]
        if isinstance(value, str) and field.kind is text:
            read[name] = value
        elif value is not None or field.required or field.says_none:
            read[name] = field.kind(value)
    return read


def _part(form: type[BaseModel], value: Any) -> Any:
    """A form inside a form: its members only, checked with the whole."""
    if not isinstance(value, dict):
        return value
    plan = plan_of(form)
    return _read(plan, plan.sort(value)[0])


@cache
def plan_of(form: type[BaseModel]) -> Plan:
    """The plan of a form, made once."""
    exact: dict[str, Field] = {}
    loose: dict[str, Field] = {}
    for own, info in form.model_fields.items():
        name = info.alias or own
        kind = kind_of(info.annotation, tuple(info.metadata))
        none = NoneType in get_args(info.annotation) or info.annotation in (None, Any)
        field = Field(name, kind, info.is_required(), none)
        exact[name] = field
        exact.setdefault(own, field)
        for said in (folded(name), folded(own)):
            loose.setdefault(said, field)
    required = frozenset(field.name for field in exact.values() if field.required)
    return Plan(exact, loose, required)


def kind_of(wanted: Any, bounds: tuple[Any, ...] = ()) -> Kind:
    """How a value is read for an annotation; what is not known here is left as it stands."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin is Annotated:
        return kind_of(parts[0], parts[1:])
    if wanted in (int, float):
        return partial(number, most=_most(bounds))
    if origin is Literal:
        return partial(choice, parts)
    if origin in (Union, UnionType):
        return _optional(tuple(part for part in parts if part is not NoneType))
    if origin in _LISTS:
        return _several(parts)
    if origin in (dict, Mapping):
        return partial(table, kind_of(parts[1]))
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return partial(choice, tuple(one.value for one in wanted))
    if isinstance(wanted, type) and issubclass(wanted, BaseModel):
        return partial(_part, wanted)
    return {str: text, bool: truth}.get(wanted, _as_it_is)


def _most(bounds: tuple[Any, ...]) -> float | None:
    """The top of a scale: the upper bound among constraints, also those inside a ``Field``."""
    for bound in bounds:
        most = getattr(bound, "le", None)
        if most is None:
            most = _most(tuple(getattr(bound, "metadata", ())))
        if most is not None:
            return float(most)
    return None


def _optional(parts: tuple[Any, ...]) -> Kind:
    if len(parts) != 1:
        return _as_it_is
    kind = kind_of(parts[0])
    if kind is text:
        return kind

    def read(value: Any) -> Any:
        return None if kind is not truth and nothing(value) else kind(value)

    return read


def _several(parts: tuple[Any, ...]) -> Kind:
    if not parts or (len(parts) > 1 and parts[1] is not ...):
        return _as_it_is
    kind = kind_of(parts[0])
    return partial(several, kind, isinstance(kind, partial) and kind.func is number)


def _as_it_is(value: Any) -> Any:
    return value
