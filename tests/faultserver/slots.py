"""The structured content of a request as JSON, for the fault server alone.

A language model is sent messages and nothing else, and the product knows no other way. A process
that has imported ``tests.faultserver`` also sends the slots to a model called ``test`` on a
loopback address, so that it can answer as the offline scientist would and the whole live path can
be tried without a model. They are decoded in ``heard``.

What JSON cannot say bears a tag: an object is ``{"~": "module:Class", field: value, ...}``,
anything else ``{"~": "list", "": items}``. An array without a tag is a tuple, the usual sequence
in slots.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache, wraps
from typing import Any

import numpy as np
from pydantic import BaseModel

from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.errors import InputError
from virsci_society.agents.prompts.request import Request

TAG, CONTENT = "~", ""
_PLAIN = frozenset({str, int, bool, type(None)})


def install() -> None:
    """Let this process send the slots along to the model ``test`` on this machine."""
    plain = ChatCompletionsBackend.request_fields
    if hasattr(plain, "__wrapped__"):
        return

    @wraps(plain)
    def request_fields(self: ChatCompletionsBackend, request: Request) -> dict[str, Any]:
        fields = plain(self, request)
        if self.model.rsplit("/", 1)[-1] != "test" or not self.endpoint_settings.is_local:
            return fields
        slots = {"slots": to_wire(request)}
        # litellm has parameters of its own, and sends what is no such parameter in ``extra_body``.
        return fields | ({"extra_body": slots} if self.client == "litellm" else slots)

    ChatCompletionsBackend.request_fields = request_fields  # type: ignore[method-assign]


def to_wire(request: Request) -> dict[str, Any]:
    """All of a request but its messages, as data for ``json.dumps``.

    Raises:
        InputError: a slot holds something that cannot be encoded.
    """
    slots: dict[str, Any] = {}
    for name, value in request.slots.items():
        try:
            slots[name] = _encode(value)
        except TypeError as error:
            raise InputError(
                f"{request.id}: the slot {name!r} holds {error}, which the test model cannot be "
                "told; slots are made of text, numbers, tuples, dataclasses and forms"
            ) from None
    return {
        "id": request.id,
        "form": class_path(request.form),
        "seed": request.seed,
        "attempt": request.attempt,
        "who": _encode(request.who),
        "slots": slots,
    }


@cache
def class_path(kind: type[object]) -> str:
    """The import path of a class: ``module:Class``."""
    return f"{kind.__module__}:{kind.__qualname__}"


@cache
def field_names(kind: type[object]) -> tuple[str, ...] | None:
    """The fields of a dataclass, a pydantic model or a named tuple; None for other classes."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    if issubclass(kind, BaseModel):
        return tuple(kind.model_fields)
    if issubclass(kind, tuple):
        return getattr(kind, "_fields", None)
    return None


def _encode(value: Any) -> Any:
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple:
        return _items(value)
    names = field_names(kind)
    if names is not None:
        return _object(value, kind, names)
    for of, encode in _ENCODERS:
        if isinstance(value, of):
            return encode(value)
    raise TypeError(f"a {class_path(kind)}")


def _object(value: Any, kind: Any, names: tuple[str, ...]) -> dict[str, Any]:
    encoded: dict[str, Any] = {TAG: class_path(kind)}
    for name in names:
        encoded[name] = _encode(getattr(value, name))
    return encoded


def _member(value: Enum) -> dict[str, Any]:
    kind: Any = type(value)
    return _tagged(class_path(kind), value.name)


def _items(value: Any) -> list[Any]:
    return list(value) if _PLAIN.issuperset(map(type, value)) else [_encode(one) for one in value]


def _tagged(tag: str, content: Any) -> dict[str, Any]:
    return {TAG: tag, CONTENT: content}


def _real(value: float) -> Any:
    return value if math.isfinite(value) else _tagged("float", repr(float(value)))


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    if all(type(key) is str and key != TAG for key in value):
        return {key: _encode(item) for key, item in value.items()}
    return _tagged("mapping", [[_encode(key), _encode(item)] for key, item in value.items()])


def _set(value: Any) -> dict[str, Any]:
    return _tagged("set", sorted(map(_encode, value), key=json.dumps))


_ENCODERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (Enum, _member),
    (np.generic, lambda value: _encode(value.item())),
    (float, _real),
    (Mapping, _mapping),
    (list, lambda value: _tagged("list", _items(value))),
    (tuple, _items),
    (frozenset, _set),
    (set, _set),
    (str, str.__str__),
    (int, int),
)
