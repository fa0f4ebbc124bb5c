"""The reference page of all scenario keys, made as Markdown from the settings classes.

``society list keys`` prints it, and docs/scenarios.md is its output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from virsci_society.scenarios.config.key_reference.field_docs import field_descriptions, summary
from virsci_society.scenarios.config.key_reference.json_schema import (
    Schema,
    other_forms,
    plain_property,
)
from virsci_society.scenarios.config.reader import field_parts, inlined_class, is_list
from virsci_society.scenarios.config.registry import import_class, name_of
from virsci_society.society.kernel.durations import Duration, parse_days, write_days

_KINDS = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "null": "`null`",
    "boolean": "`true` or `false`",
    "object": "mapping",
}
_SIGNS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


HEAD = """# Scenario files

Printed by `society list keys`; do not edit. A scenario is a YAML file. `extends: NAME`
starts from another one, by its name in the library or its path; what the file says wins, and
a section that names another part with `use` replaces the one below it. `--set a.b=c` changes one
key, its value read as YAML. Durations are written `10m` (minutes), `2h`, `3d`, `1w`, `18mo`,
`2y`. Where a key takes `use: NAME`, the other keys of that section are the part's own; the part's
name alone may stand for it, and a duration alone for `use: fixed`. Instead of a name,
`use: package.module:Class` names a class of your own, which is imported with `--trust` only.

## Top level

"""


def render_reference(cls: type[BaseModel]) -> str:
    """The page: for every key its default, the values it takes, and its meaning."""
    seen: set[type[BaseModel]] = set()
    return HEAD + "\n".join(_page(cls, "", seen)).rstrip() + "\n"


def _page(cls: type[BaseModel], prefix: str, seen: set[type[BaseModel]]) -> Iterator[str]:
    yield from _key_table(cls, prefix)
    yield from _pages_below(cls, prefix, seen)


def _pages_below(cls: type[BaseModel], prefix: str, seen: set[type[BaseModel]]) -> Iterator[str]:
    """The pages of the parts of a part."""
    inner = inlined_class(cls)
    if inner is not None:
        yield from _pages_below(inner, prefix, seen)
    for name, field in cls.model_fields.items():
        bases, table = field_parts(field)
        inlined = name == getattr(cls, "inlined", None)
        path = prefix.rstrip(".") if inlined else prefix + name
        if table is None:
            for base in () if inlined else bases:
                yield from _once(base, path, path, seen)
        else:
            parts = {use: import_class(import_path) for use, import_path in table.items()}
            new = {use: part for use, part in parts.items() if part not in seen}
            # All at once: a part that takes others of its kind must not print them as its own.
            seen.update(new.values())
            for use, part in new.items():
                yield from _section(part, f"{path}: {{use: {use}}}", path, seen)


def _once(cls: type[BaseModel], title: str, path: str, seen: set[type[BaseModel]]) -> Iterator[str]:
    """The page of a part, unless it has been printed for another key."""
    if cls not in seen:
        seen.add(cls)
        yield from _section(cls, title, path, seen)


def _section(
    cls: type[BaseModel], title: str, path: str, seen: set[type[BaseModel]]
) -> Iterator[str]:
    """The page of a part.

    Args:
        cls: the part.
        title: heading of its page.
        path: dotted key under which it stands.
        seen: parts that have their page.
    """
    yield from ("", f"## `{title}`", "", summary(cls), "")
    yield from _page(cls, path + ".", seen)


def _key_table(cls: type[BaseModel], prefix: str) -> Iterator[str]:
    rows = list(_key_rows(cls, prefix))
    if not rows:
        yield "No keys of its own."
        return
    yield "| key | default | takes | meaning |"
    yield "|---|---|---|---|"
    yield from rows


def _key_rows(cls: type[BaseModel], prefix: str) -> Iterator[str]:
    """A row for each key of a section, those of its inlined part among them."""
    descriptions = field_descriptions(cls)
    for name, field in cls.model_fields.items():
        if name not in ("use", getattr(cls, "inlined", None)):
            meaning = descriptions.get(name, "")
            cells = (f"`{prefix}{name}`", _default(field), _takes(cls, name), meaning)
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    inner = inlined_class(cls)
    if inner is not None:
        yield from _key_rows(inner, prefix)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, BaseModel):
        table = field_parts(field)[1]
        return f"`use: {name_of(type(value), table)}`" if table else "its own defaults"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    if isinstance(value, float) and _is_duration(field):
        return f"`{write_days(value)}`" if value else "`0d`"
    if value is None or isinstance(value, bool):
        return f"`{'null' if value is None else str(value).lower()}`"
    return f"`{value}`"


def _is_duration(field: FieldInfo) -> bool:
    return any(getattr(note, "func", None) is parse_days for note in field.metadata)


def _takes(cls: type[BaseModel], name: str) -> str:
    field = cls.model_fields[name]
    bases, table = field_parts(field)
    words = []
    if table is not None:
        words = [f"`use: {use}`" for use in table]
        if Duration in bases:
            words.append("a duration")
    elif bases:
        words = ["a list of sections" if is_list(field) else "a section"]
    words += [
        _words(schema) for schema in (other_forms(cls, name) if bases else _members(cls, name))
    ]
    return " or ".join(dict.fromkeys(word for word in words if word))


def _members(cls: type[BaseModel], name: str) -> list[Schema]:
    schema = plain_property(cls, name)
    return cast(list[Schema], schema.get("anyOf", [schema]))


def _words(schema: Schema) -> str:
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type")
    if isinstance(kind, list):
        return "duration" + _bounds(schema)
    if kind == "array":
        return "list of " + _words(schema.get("items", {}))
    return _KINDS.get(str(kind), "") + _bounds(schema)


def _bounds(schema: Schema) -> str:
    found = [f"{sign} {schema[key]}" for key, sign in _SIGNS.items() if key in schema]
    return " " + ", ".join(found) if found else ""
