"""Heard: the request that a client told with its slots.

The reverse of ``slots``.

Classes are found by their path, and only in the packages of this repository. Objects are put
together from their fields without running their constructors: they were valid when they were
told, and also a form's flagged default must come back as it was.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Any

from pydantic import BaseModel

from tests.faultserver.slots import CONTENT, TAG, field_names
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Request
from virsci_society.agents.replies.form import Form

PACKAGES = frozenset({"virsci_society", "tests"})
"""Nothing else is imported."""


class Unheard(ValueError):
    """What was told cannot be understood; the message says why."""


def heard(data: Any, messages: tuple[Message, ...] = ()) -> Request:
    """The request that was told, equal to the client's in all that a rule looks at.

    Raises:
        Unheard: the data are no told request, or name a class that is not to be found.
    """
    try:
        form, who = class_at(data["form"]), _heard(data["who"])
        request = Request(
            id=str(data["id"]),
            who=who,
            messages=messages,
            form=form,
            slots={name: _heard(value) for name, value in data["slots"].items()},
            seed=int(data["seed"]),
            attempt=int(data.get("attempt", 0)),
        )
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise Unheard(f"the slots cannot be understood: {error!r}") from None
    if not issubclass(form, Form) or not isinstance(who, Profile):
        raise Unheard(f"{data['form']} is no Form, or {request.id} is asked of nobody")
    return request


@cache
def class_at(path: str) -> type[Any]:
    """The class at ``module:Class``.

    Raises:
        Unheard: there is none, or it stands outside this repository's packages.
    """
    module, _, name = path.partition(":")
    if module.split(".")[0] not in PACKAGES:
        raise Unheard(f"{path} stands in none of the packages {', '.join(sorted(PACKAGES))}")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise Unheard(f"{path} is not to be found: {error}") from None
    if not isinstance(found, type) or found.__module__ != module:
        raise Unheard(f"{path} is no class of that module")
    return found


def _heard(value: Any) -> Any:
    kind = type(value)
    if kind is list:
        return tuple(map(_heard, value))
    if kind is not dict:
        return value
    tag = value.get(TAG)
    if tag is None:
        return {name: _heard(item) for name, item in value.items()}
    way = _WAYS.get(tag)
    return way(value[CONTENT]) if way is not None else _object(class_at(tag), value)


def _object(kind: Any, told: Mapping[str, Any]) -> Any:
    if issubclass(kind, Enum):
        return kind[told[CONTENT]]
    names = field_names(kind)
    if names is None:
        raise Unheard(f"{told[TAG]} is neither a dataclass nor a form")
    values = {name: _heard(told[name]) for name in names}
    if issubclass(kind, BaseModel):
        return kind.model_construct(**values)
    if issubclass(kind, tuple):
        return kind(**values)
    made = object.__new__(kind)
    for name, item in values.items():
        object.__setattr__(made, name, item)
    return made


_WAYS: Mapping[str, Callable[[Any], Any]] = {
    "float": float,
    "list": lambda items: list(map(_heard, items)),
    "mapping": lambda pairs: {_heard(key): _heard(item) for key, item in pairs},
    "set": lambda items: frozenset(map(_heard, items)),
}
