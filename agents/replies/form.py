"""Form: the shape a reply must have, and how text is read into it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict

from agents.reading import read_reply

_VALUES = ("const", "default", "enum", "examples", "required")
"""Keywords of a schema that hold values and no schemas."""


class Form(BaseModel):
    """Base of every reply. Field aliases are the names that stand in the prompt.

    A form may bring ``rehearse``, the rule by which the offline scientist answers it, and
    ``fallback``, the flagged default when no re-ask made the reply readable.
    """

    model_config = ConfigDict(
        extra="ignore", frozen=True, populate_by_name=True, allow_inf_nan=False
    )

    ruled: ClassVar[bool] = False
    """True on forms that bring a rule of their own."""

    @classmethod
    def rehearse(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Answer from the structured slots alone; ``slots["me"]`` is the scientist asked."""
        raise NotImplementedError

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """The explicit default for an unreadable reply, or None: then it is a verdict."""
        return None

    def heed(self, slots: Mapping[str, Any]) -> None:
        """See that the words answer what was asked; they always do, where a form says nothing.

        Raises:
            ReplyError: they do not, and are asked for again.
        """

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The form as plain JSON Schema under the names of the prompt, for ``response_format``.

        Forms in forms stand where they are used, because some servers follow no ``$ref``; only
        a form that holds itself keeps its ``$defs``. Titles and docstrings, which are for
        readers of the code, are left out.
        """
        return dict(json.loads(_schema_text(cls)))

    @classmethod
    def schema_text(cls) -> str:
        """The form's JSON Schema as canonical text."""
        return _schema_text(cls)

    def as_json(self) -> str:
        """The form as canonical JSON under the names of the prompt."""
        return json.dumps(self.model_dump(by_alias=True, mode="json"), ensure_ascii=False)


@cache
def _schema_text(form: type[Form]) -> str:
    schema = form.model_json_schema()
    defs = schema.get("$defs", {})
    root = schema["$ref"].rpartition("/")[2] if "$ref" in schema else ""
    plain = _plain(defs[root] if root else schema, defs, frozenset({root}))
    if "$ref" in json.dumps(plain):
        plain["$defs"] = {name: _plain(one, defs, frozenset(defs)) for name, one in defs.items()}
    return json.dumps(plain, sort_keys=True)


def _plain(schema: Any, defs: Mapping[str, Any], inside: frozenset[str]) -> Any:
    """A schema with what it refers to in place, unless it stands inside of that already."""
    if isinstance(schema, list):
        return [_plain(one, defs, inside) for one in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: part for key, part in schema.items() if key not in ("title", "$defs")}
    if "properties" in schema:
        schema.pop("description", None)
    name = schema.get("$ref", "").rpartition("/")[2]
    if name and name not in inside:
        del schema["$ref"]
        return {**_plain(defs[name], defs, inside | {name}), **schema}
    plain = {}
    for key, part in schema.items():
        if key in ("properties", "patternProperties"):
            plain[key] = {one: _plain(said, defs, inside) for one, said in part.items()}
        else:
            plain[key] = part if key in _VALUES else _plain(part, defs, inside)
    return plain


def read_form(form: type[Form], text: str) -> Form:
    """The words of ``agents.reading.read_reply``, without the rung.

    Raises:
        ReplyError: they do not fill the form.
    """
    return read_reply(form, text).words
