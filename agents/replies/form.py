"""The shape that a reply must have, as a model of pydantic, as a schema and on the page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict

from virsci_society.agents.errors import ProtocolError

_VALUES = ("const", "default", "enum", "examples", "required")
"""Keywords of a schema that contain values, not schemas."""
FIELDS = "Answer with a JSON object. Write your own words into these fields:"
PATTERN = "It looks like this, with your answers in place of the dots:"
REASONS = ("reason", "reasoning", "modifications", "comments")
"""Fields in which forms ask for reasons."""


class Form(BaseModel):
    """Base of every reply. Field aliases are the names in the prompt.

    A form may bring ``instead``, the fields of the flagged default when no re-ask made the reply
    readable, or write ``fallback`` where that depends on the question. The rule by which the
    offline scientist answers it stands in a table ``OFFLINE_RULES``.

    Example:
        >>> class Essay(vs.Form):
        ...     title: str
        ...     pages: int = 1
        >>> Essay.model_validate_json('{"title": "Networks", "mood": "good"}')
        Essay(title='Networks', pages=1)
        >>> list(Essay.json_schema()["properties"])
        ['title', 'pages']
    """

    words_asked: ClassVar[Mapping[str, int]] = {}
    """Words that pages ask for, by field; "" stands for all fields together. Below half of them a
    field is asked for once more, and is then kept and counted."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, populate_by_name=True, allow_inf_nan=False
    )

    instead: ClassVar[Mapping[str, Any] | None] = None
    asked_with: ClassVar[Mapping[str, str]] = {}
    """The slots without which single fields are not asked for, by field."""

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Default for a reply that cannot be parsed; None: the reply becomes a verdict."""
        return None if cls.instead is None else cls.model_construct(**cls.instead)  # type: ignore[return-value] # plugin lacks Self

    def check_against(self, slots: Mapping[str, Any]) -> None:
        """Check that the reply answers the question; by default everything is accepted."""

    @classmethod
    def inapplicable_fields(cls, slots: Mapping[str, Any]) -> tuple[str, ...]:
        """Names of fields whose slot is empty, which are not asked for."""
        return tuple(name for name, slot in cls.asked_with.items() if not slots.get(slot))

    @classmethod
    def allowed_values(cls, slots: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
        """The only values of some fields in one question, by names as in ``Ask/Scientist``."""
        return {}

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON Schema of the reply to one question, for both the page and the server."""
        schema = _without(cls.json_schema(), cls.inapplicable_fields(slots))
        return _with_values(schema, cls.allowed_values(slots))

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The form as JSON Schema under the prompt's names, in declared order, without ``$ref``."""
        # Read anew, so that a caller who changes its schema changes nobody else's.
        return dict(json.loads(_schema_text(cls)))

    @property
    def stated_reason(self) -> str:
        """The words of the field in which the form asks for reasons; empty without one."""
        said = (self.__dict__.get(name) for name in REASONS)
        return next((stated for stated in said if isinstance(stated, str) and stated), "")

    def as_json(self) -> str:
        """The form as canonical JSON under the names of the prompt."""
        return _quoted(self.model_dump(by_alias=True, mode="json"))


MARK = "\0"
"""Prefix of the placeholder for the allowed values of a field in a shared schema."""


def texts_for(form: type[Form], slots: Mapping[str, Any], *, sent: bool = True) -> tuple[str, str]:
    """The part of a page that describes the reply to one question, and the schema to send."""
    values: Mapping[str, Sequence[str]] = {}
    if any("schema_for" in vars(base) for base in form.__mro__ if base is not Form):
        schema = json.dumps(form.schema_for(slots))
    else:
        values = form.allowed_values(slots)
        schema = _shared_schema(form, tuple(form.inapplicable_fields(slots)), *values)
    page, schema_sent = _texts(schema, sent)
    for name, allowed in values.items():
        mark, listed = json.dumps(MARK + name), json.dumps(list(allowed))[1:-1]
        schema, schema_sent = (text.replace(mark, listed) for text in (schema, schema_sent))
    # Most pages do not list the allowed values.
    return (_texts(schema, sent)[0] if json.dumps(MARK)[1:-1] in page else page), schema_sent


@lru_cache(maxsize=1024)
def _shared_schema(form: type[Form], inapplicable_fields: tuple[str, ...], *names: str) -> str:
    schema = _without(form.json_schema(), inapplicable_fields)
    return json.dumps(_with_values(schema, {name: [MARK + name] for name in names}))


@lru_cache(maxsize=256)
def _texts(schema: str, schema_sent: bool) -> tuple[str, str]:
    asked = json.loads(schema)
    return render_form(asked, schema_sent=schema_sent), json.dumps(as_sent(asked))


def _with_values(schema: dict[str, Any], values: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The schema in which some fields, if they are asked for, or the items of lists have values."""
    for name, allowed in values.items():
        part: Any = schema
        for step in name.split("/"):
            part = part.get("items", part)
            part = part.get("anyOf", [part])[0].get("properties", {}).get(step, {})
        part = part.get("items", part)
        part["enum"] = list(allowed)
    return schema


def _without(schema: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    for name in names:
        schema["properties"].pop(name, None)
        if name in schema.get("required", ()):
            schema["required"].remove(name)
    return schema


def as_sent(schema: Any) -> Any:
    """The JSON Schema for constrained decoders: all fields required, bounded numbers integers."""
    if isinstance(schema, list):
        return [as_sent(part_schema) for part_schema in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for key, part in schema.items():
        if key == "properties":
            made[key] = {name: as_sent(part_schema) for name, part_schema in part.items()}
        else:
            made[key] = part if key in _VALUES else as_sent(part)
    if "properties" in made:
        # Some decoders write optional fields last: a reason would follow its choice.
        made["required"] = list(made["properties"])
    # Some keep integers within their bounds and no other numbers.
    if made.get("type") == "number" and {"minimum", "maximum"} <= made.keys():
        made |= {bound: int(made[bound]) for bound in ("minimum", "maximum")}
        made["type"] = "integer"
    return made


@cache
def _schema_text(form: type[Form]) -> str:
    schema = form.model_json_schema()
    # Never sorted: a model writes the fields in this order.
    return json.dumps(_plain(schema, schema.get("$defs", {}), frozenset()))


def _plain(schema: Any, defs: Mapping[str, Any], inside: frozenset[str]) -> Any:
    """A schema with its references to ``defs`` written out, and without titles."""
    if isinstance(schema, list):
        return [_plain(item, defs, inside) for item in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = ("title", "$defs", "discriminator")
    schema = {key: part for key, part in schema.items() if key not in left_out}
    if "oneOf" in schema:  # a union by a field of its members, read as any other union
        schema["anyOf"] = schema.pop("oneOf")
    if "properties" in schema:
        schema.pop("description", None)
    if name := schema.pop("$ref", "").rpartition("/")[2]:
        if name in inside:
            raise ProtocolError(f"the form {name} contains itself; give it a list of texts instead")
        return {**_plain(defs[name], defs, inside | {name}), **schema}
    plain = {}
    for key, part in schema.items():
        if key in ("properties", "patternProperties"):
            plain[key] = {name: _plain(item, defs, inside) for name, item in part.items()}
        else:
            plain[key] = part if key in _VALUES else _plain(part, defs, inside)
    return plain


def render_form(schema: Mapping[str, Any], *, schema_sent: bool) -> str:
    """The part of a page that lists the fields, and a line of JSON if no schema is sent."""
    lines = [FIELDS, *_field_lines(schema["properties"], "- ")]
    if not schema_sent:
        lines.append(json_pattern(schema))
    return "\n".join(lines)


def _field_lines(properties: Mapping[str, Any], bullet: str) -> Iterator[str]:
    for name, part in properties.items():
        kind, inner = _kind(part)
        described = "" if part.get("type") == "object" else str(part.get("description", ""))
        if described:
            mark = ": " if kind == "list" else ", "
            kind = described if kind == "text" else f"{kind}{mark}{described}"
        yield f"{bullet}{_quoted(name)}: {kind}"
        yield from _field_lines(inner, f"  {bullet}")


def _kind(schema: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The kind of a field in words, and the fields inside it, each of which has a line."""
    if "const" in schema:
        return _quoted(schema["const"]), {}
    if "enum" in schema and "description" not in schema:
        return " or ".join(map(_quoted, schema["enum"])), {}
    if "anyOf" in schema:
        kinds = [_kind(part) for part in schema["anyOf"]]
        # Nothing comes first, so that a model does not take the other as the usual case.
        names = sorted((name for name, _ in kinds), key="null".__ne__)
        return " or ".join(names), next((inner for _, inner in kinds if inner), {})
    kind = schema.get("type")
    if kind in ("integer", "number"):
        bounded = "minimum" in schema and "maximum" in schema
        return f"{schema['minimum']:g} to {schema['maximum']:g}" if bounded else "number", {}
    if kind == "array":
        name, inner = _kind(schema.get("items", {}))
        # A description says what the items are.
        return ("list" if "description" in schema else f"list of: {name}"), inner
    if kind != "object":
        return {"null": "null", "boolean": "true or false"}.get(str(kind), "text"), {}
    # An object whose members are alike is named with them, and others have a line for each.
    members = schema.get("properties", {})
    each = schema.get("additionalProperties")
    if not members and isinstance(each, Mapping):
        return f"object with {_kind(each)[0]} for each {schema.get('description', 'name')}", {}
    if len(members) < 2 or len({json.dumps(part) for part in members.values()}) > 1:
        return "object", members
    part = next(iter(members.values()))
    kind, inner = _kind(part)
    if inner:
        return "object", members
    listed = ", ".join(map(_quoted, members))
    said = f": {part['description']}" if "description" in part else ""
    return f"object with {listed}, each {kind}{said}", {}


def json_pattern(schema: Mapping[str, Any]) -> str:
    """One line of JSON with dots where the values belong, and the sentence before it."""
    dots = {
        name: '"..."' if part.get("type") == "string" else "..."
        for name, part in schema["properties"].items()
    }
    members = ", ".join(f"{_quoted(name)}: {value}" for name, value in dots.items())
    return f"{PATTERN}\n{{{members}}}"


_quoted = json.JSONEncoder(ensure_ascii=False).encode
