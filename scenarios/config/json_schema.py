"""Keys: JSON Schema of scenario files, made from the parts themselves, for editors."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scenarios.meanings import meanings, summary
from scenarios.parts import import_class, import_path
from scenarios.sections import field_parts, is_list
from society.durations import Duration

DRAFT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

_OUTSIDE: Schema = {
    "type": "string",
    "pattern": ":",
    "description": "package.module:Class; runs code, so it needs --trust",
}


@cache
def json_schema(cls: type[BaseModel]) -> Schema:
    """JSON Schema (2020-12) of a scenario file, with every part of every table."""
    definitions: dict[str, Schema] = {}
    schema = _section(cls, definitions, None)
    parent = {"type": "string", "description": "The scenario to start from: a name or a path."}
    schema["properties"] = {"extends": parent, **schema["properties"]}
    return {"$schema": DRAFT, "title": "Scenario", **schema, "$defs": definitions}


def _section(cls: type[BaseModel], definitions: dict[str, Schema], use: str | None) -> Schema:
    told = meanings(cls)
    properties: dict[str, Schema] = {} if use is None else {"use": {"const": use}}
    for name, field in cls.model_fields.items():
        if name in ("use", getattr(cls, "inlined", None)):
            continue
        property_ = _property(cls, name, field, definitions)
        properties[name] = property_ | ({"description": told[name]} if told.get(name) else {})
    required = [name for name, field in cls.model_fields.items() if field.is_required()]
    schema: Schema = {
        "type": "object",
        "description": summary(cls),
        "properties": properties,
        "additionalProperties": False,
    }
    inlined = getattr(cls, "inlined", None)
    if inlined is not None:
        return _with_inlined(schema, cls.model_fields[inlined], definitions)
    return schema | ({"required": required} if required else {})


def _with_inlined(schema: Schema, field: FieldInfo, definitions: dict[str, Schema]) -> Schema:
    """A section that also takes the keys of one of several parts."""
    _, table = field_parts(field)
    variants = []
    for use, path in (table or {}).items():
        part = _section(import_class(path), definitions, use)
        variants.append(part | {"properties": part["properties"] | schema["properties"]})
    outside = {"type": "object", "required": ["use"], "properties": {"use": _OUTSIDE}}
    return {"description": schema["description"], "anyOf": [*variants, outside]}


def _property(
    cls: type[BaseModel], name: str, field: FieldInfo, definitions: dict[str, Schema]
) -> Schema:
    bases, table = field_parts(field)
    if not bases:
        return plain_property(cls, name)
    choices: list[Schema] = []
    if table is None:
        choices = [_reference(base, definitions, None) for base in bases]
        if is_list(field):
            return plain_property(cls, name) | {"items": choices[0]}
    else:
        for use, path in table.items():
            choices.append(_reference(import_class(path), definitions, use))
        choices.append({"type": "object", "required": ["use"], "properties": {"use": _OUTSIDE}})
        short = {"type": ["string", "number"]} if Duration in bases else {"enum": list(table)}
        choices.append(short)
    choices += [one for one in other_forms(cls, name) if one not in choices]
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _reference(cls: type[BaseModel], definitions: dict[str, Schema], use: str | None) -> Schema:
    key = import_path(cls).replace(":", ".")
    if key not in definitions:
        definitions[key] = {}
        definitions[key].update(_section(cls, definitions, use))
    return {"$ref": f"#/$defs/{key}"}


def plain_property(cls: type[BaseModel], name: str) -> Schema:
    """What pydantic says of a field that is no part."""
    whole = cls.model_json_schema()
    schema = cast(Schema, whole["properties"][name])
    return {key: value for key, value in schema.items() if key not in ("title", "hint")}


def other_forms(cls: type[BaseModel], name: str) -> list[Schema]:
    """What a field takes besides parts: numbers, words, null."""
    schema = plain_property(cls, name)
    members = schema.get("anyOf", [schema])
    plain = [one for one in members if "$ref" not in one and one.get("type") != "object"]
    return [one for one in plain if one.keys() & {"type", "const", "enum"}]
