"""Pages: every key of a scenario file as Markdown, made from the parts themselves, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scenarios.keys import Schema, other_forms, plain_property
from scenarios.meanings import meanings, summary
from scenarios.parts import import_class, name_of
from scenarios.sections import field_parts, is_list
from society.durations import Duration, parse_days, write_days

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

Printed by `society schema --markdown`; do not edit. A scenario is a YAML file. `extends: NAME`
starts from another one, by its name in the library or its path; what the file says wins, and
a section that names another part with `use` replaces the one below it. `--set a.b=c` changes one
key, its value read as YAML. Durations are written `10m` (minutes), `2h`, `3d`, `1w`, `18mo`,
`2y`. Where a key takes `use: NAME`, the other keys of that section are the part's own; the part's
name alone may stand for it, and a duration alone for `use: fixed`. Instead of a name,
`use: package.module:Class` names a class of your own, which is imported with `--trust` only.

## Top level

"""


def document(cls: type[BaseModel]) -> str:
    """Every key of a scenario file as a page: key, default, what it takes, what it means."""
    seen: set[type[BaseModel]] = set()
    return HEAD + "\n".join(_page(cls, "", seen)).rstrip() + "\n"


def _page(cls: type[BaseModel], prefix: str, seen: set[type[BaseModel]]) -> Iterator[str]:
    yield from _key_table(cls, prefix)
    for name, field in cls.model_fields.items():
        bases, table = field_parts(field)
        inlined = name == getattr(cls, "inlined", None)
        path = prefix.rstrip(".") if inlined else prefix + name
        if table is None:
            for base in bases:
                yield from _once(base, path, path, seen)
        else:
            for use, import_path in table.items():
                title = f"{path}: {{use: {use}}}"
                yield from _once(import_class(import_path), title, path, seen)


def _once(cls: type[BaseModel], title: str, path: str, seen: set[type[BaseModel]]) -> Iterator[str]:
    """The page of a part, unless it has been printed for another key."""
    if cls not in seen:
        seen.add(cls)
        yield from ("", f"## `{title}`", "", summary(cls), "")
        yield from _page(cls, path + ".", seen)


def _key_table(cls: type[BaseModel], prefix: str) -> Iterator[str]:
    skipped = ("use", getattr(cls, "inlined", None))
    names = [name for name in cls.model_fields if name not in skipped]
    if not names:
        yield "No keys of its own."
        return
    told = meanings(cls)
    yield "| key | default | takes | meaning |"
    yield "|---|---|---|---|"
    for name in names:
        field = cls.model_fields[name]
        cells = (f"`{prefix}{name}`", _default(field), _takes(cls, name), told.get(name, ""))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


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
