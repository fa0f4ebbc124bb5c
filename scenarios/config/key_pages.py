"""The pages of scenario keys, made as Markdown from the settings classes.

``society list keys`` prints those that scenarios commonly set (docs/scenarios.md), with ``--full``
every key there is (docs/keys.md). Nothing about a key is said anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.document import library
from virsci_society.scenarios.config.json_schema import (
    Schema,
    key_texts,
    other_forms,
    plain_property,
    summary,
)
from virsci_society.scenarios.config.reader import inlined_class, part_field
from virsci_society.scenarios.config.registry import import_class, name_of
from virsci_society.scenarios.config.yaml_io import read_yaml
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


BACKEND_KEYS = frozenset(
    f"backend.{name}"
    for name in (
        *("model", "api_base", "key_env", "temperature", "max_tokens", "in_flight"),
        *("budget.usd", "budget.tokens", "budget.calls"),
    )
)
"""Keys of a language model that users set and the library, which runs without one, does not."""

HEAD = """# Scenario files

Printed by `society list keys`; do not edit. These are the keys at the top level, those that a
scenario of the library sets, and the common ones of a language model; [keys.md](keys.md) has every
key. A scenario is a YAML file. `extends: NAME`
starts from another one, by its name in the library or its path; what the file says wins, and
a section that names another part with `use` replaces the one below it. `fitted_on` says on which
papers the values of a file were fitted, so that `society check` can name those that another
ecosystem borrows. `--set a.b=c` changes one
key, its value read as YAML. Durations are written `10m` (minutes), `2h`, `3d`, `1w`, `18mo`,
`2y`. Where a key takes `use: NAME`, the other keys of that section are the part's own; the part's
name alone may stand for it, and a duration alone for `use: fixed`. Instead of a name,
`use: package.module:Class` names a class of your own, which is imported with `--trust` only.

## Keys that are commonly set

The column `of` names the part that has the key, such as `poisson` of `founding: {use: poisson}`.

"""
FULL_HEAD = """# Every key

Printed by `society list keys --full`; do not edit. [scenarios.md](scenarios.md) says how a
scenario is written, and has the keys that are commonly set.

The source says where the value comes from: a paper, this project, or "assumed", which is nothing
but plausibility. A dash stands for a key that changes nothing that happens, but how, how far or how
visibly a run is made. `required` has no default. A key that several parts share is described once,
at the first of them. The keys of a distribution are listed at the first key that takes one.

## Top level

"""


def render_section(cls: type[BaseModel], section: str) -> str:
    """The keys of one section, such as ``protocol.selection``, as the page has them.

    Raises:
        InputError: no key is called so, and none lies below it.
    """
    found = [
        KeySection(title, about, kept)
        for title, about, rows in key_sections(cls)
        if (kept := tuple(row for row in rows if f"{row.key}.".startswith(f"{section}.")))
    ]
    if not found:
        known = {row.key for _, _, rows in key_sections(cls) for row in rows}
        raise InputError(f"no key is called {section!r}{did_you_mean(section, sorted(known))}")
    return "\n".join(_lines(found)).strip()


def render_reference(cls: type[BaseModel], only: Common | None = None) -> str:
    """The page: what every key takes, means and is by default, its unit, and its source.

    Besides the keys at the top level ``only`` these are shown; None: all.
    """
    if only is None:
        return FULL_HEAD + "\n".join(_lines(key_sections(cls))).rstrip() + "\n"
    parts: dict[tuple[str, str, str], list[str]] = {}
    for title, _, rows in key_sections(cls):
        for row in rows:
            if not title or (
                row.key in only.keys and ("{use: " not in title or title in only.parts)
            ):
                part = title.partition("{use: ")[2].rstrip("}")
                shown = (row.key, row.default, row.meaning)
                parts.setdefault(shown, []).extend([f"`{part}`"] if part else [])
    lines = [
        _table_row(f"`{key}`", ", ".join(of), default, meaning)
        for (key, default, meaning), of in parts.items()
    ]
    return "\n".join([f"{HEAD}| key | of | default | meaning |", "|---|---|---|---|", *lines, ""])


class Common(NamedTuple):
    """What scenarios commonly set."""

    keys: frozenset[str]
    parts: frozenset[str]


def common_keys() -> Common:
    """The keys that scenarios of the library set, and those of a language model."""
    keys, parts = set(BACKEND_KEYS), {"backend: {use: litellm}"}

    def collect(data: Mapping[Any, Any], prefix: str) -> None:
        for name, value in data.items():
            keys.add(f"{prefix}{name}")
            if isinstance(value, dict):
                parts.add(f"{prefix}{name}: {{use: {value.get('use')}}}")
                collect(value, f"{prefix}{name}.")

    for path in library().values():
        collect(read_yaml(path).data, "")
    return Common(frozenset(keys), frozenset(parts))


class KeyRow(NamedTuple):
    """One key of a section: a line of its table."""

    key: str
    default: str
    unit: str
    takes: str
    meaning: str
    source: str


class KeySection(NamedTuple):
    """One section of the page."""

    title: str
    about: str
    rows: tuple[KeyRow, ...]


def key_sections(cls: type[BaseModel]) -> Iterator[KeySection]:
    """Every section of a scenario file, each part of each table once."""
    yield KeySection("", "", tuple(_key_rows(cls, "")))
    yield from _sections_below(cls, "", set())


def _lines(sections: Iterable[KeySection]) -> Iterator[str]:
    described: dict[KeyRow, str] = {}
    for title, about, rows in sections:
        if title:
            yield from ("", f"## `{title}`", "", about, "")
        if not rows:
            yield "No keys of its own."
            continue
        # A key that several sections share has its row at the first of them.
        shared: dict[str, list[str]] = {}
        new: list[KeyRow] = []
        for row in rows:
            alike = row._replace(key=row.key.rpartition(".")[2])
            if alike in described:
                shared.setdefault(described[alike], []).append(f"`{row.key}`")
            else:
                new.append(row)
                described[alike] = title
        if new:
            yield f"| {' | '.join(KeyRow._fields)} |"
            yield "|---" * len(KeyRow._fields) + "|"
        for row in new:
            yield _table_row(f"`{row.key}`", *row[1:])
        if new and shared:
            yield ""
        for first, keys in sorted(shared.items()):
            yield f"- As in `{first}`: {', '.join(keys)}."


def _table_row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _sections_below(
    cls: type[BaseModel], prefix: str, seen: set[type[BaseModel]]
) -> Iterator[KeySection]:
    """The sections of the parts of a part, each part once: ``seen`` have theirs already."""
    inner = inlined_class(cls)
    if inner is not None:
        yield from _sections_below(inner, prefix, seen)
    for name in cls.model_fields:
        _, bases, table, _ = part_field(cls, name)
        inlined = name == getattr(cls, "inlined", None)
        path = prefix.rstrip(".") if inlined else prefix + name
        parts = {path: bases[0]} if bases and not inlined else {}
        if table is not None:
            parts = {f"{path}: {{use: {use}}}": import_class(at) for use, at in table.items()}
        new = {title: part for title, part in parts.items() if part not in seen}
        # All at once: a part that takes others of its kind must not print them as its own.
        seen.update(new.values())
        if table is None:
            # What a section takes over from its base is not printed again as one of its own.
            seen.update(
                one for part in new.values() for one in part.__mro__ if issubclass(one, BaseModel)
            )
        for title, part in new.items():
            yield KeySection(title, summary(part), tuple(_key_rows(part, f"{path}.")))
            yield from _sections_below(part, f"{path}.", seen)


def _key_rows(cls: type[BaseModel], prefix: str) -> Iterator[KeyRow]:
    """The keys of a section, those of its inlined part among them."""
    texts = key_texts(cls)
    for name in cls.model_fields:
        if name not in ("use", getattr(cls, "inlined", None)):
            meaning, unit, source = texts.get(name, ("", "-", "-"))
            yield KeyRow(
                f"{prefix}{name}", _default(cls, name), unit, _takes(cls, name), meaning, source
            )
    inner = inlined_class(cls)
    if inner is not None:
        yield from _key_rows(inner, prefix)


def _default(cls: type[BaseModel], name: str) -> str:
    field, _, table, _ = part_field(cls, name)
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, BaseModel):
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
    _, bases, table, many = part_field(cls, name)
    words = []
    if table is not None:
        words = [f"`use: {use}`" for use in table]
        if Duration in bases:
            words.append("a duration")
    elif bases:
        words = ["a list of sections" if many else "a section"]
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
