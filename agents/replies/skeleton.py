"""The JSON block that a page asks for, written from the schema of the reply.

The page and the schema that is sent beside it are made of the same data, so they ask for the same
fields in the same order, whether or not a server takes a schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def render_skeleton(schema: Mapping[str, Any]) -> str:
    """A reply as a pattern: fields in the order of the schema, each with what belongs there.

    Args:
        schema: JSON Schema of an object, as ``Form.schema_for`` gives it.

    Returns:
        The pattern, one line per field. It is meant for readers and is not valid JSON.
    """
    fields = [f'"{name}": {_value(part)}' for name, part in schema["properties"].items()]
    return "{" + ",\n ".join(fields) + "}"


def _value(schema: Mapping[str, Any]) -> str:
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    if "enum" in schema:
        return " or ".join(json.dumps(one, ensure_ascii=False) for one in schema["enum"])
    if "anyOf" in schema:
        # Nothing comes first, so that a model does not take the other as the usual case.
        parts = sorted(schema["anyOf"], key=lambda one: one.get("type") != "null")
        return " or ".join(_value(part) for part in parts)
    kind = schema.get("type")
    if kind == "null":
        return "null"
    if kind == "boolean":
        return "true or false"
    if kind in ("integer", "number"):
        return _number(schema)
    if kind == "array":
        return f"[{_described(schema) or _value(schema.get('items', {}))}, ...]"
    if kind == "object":
        return _object(schema)
    return json.dumps(schema.get("description", "text"), ensure_ascii=False)


def _number(schema: Mapping[str, Any]) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f"{schema['minimum']:g} to {schema['maximum']:g}"
    return _described(schema) or "a number"


def _object(schema: Mapping[str, Any]) -> str:
    named = {name: _value(part) for name, part in schema.get("properties", {}).items()}
    if not named and isinstance(schema.get("additionalProperties"), Mapping):
        named = {schema.get("description", "name"): _value(schema["additionalProperties"])}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in named.items()) + "}"


def _described(schema: Mapping[str, Any]) -> str:
    return str(schema.get("description", ""))
