"""The keys of a scenario, described by their classes: JSON Schema for editors, pages for people.

Field texts are read here: pydantic would add a fifth of a second to the start of every command.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, TypeAdapter

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.document import FittedOn
from virsci_society.scenarios.config.reader import import_class, part_field
from virsci_society.scenarios.config.registry import name_of
from virsci_society.society.kernel.durations import Duration, write_days

DRAFT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

_OUTSIDE_PART: Schema = {
    "type": "object",
    "required": ["use"],
    "properties": {
        "use": {
            "type": "string",
            "pattern": ":",
            "description": "package.module:Class; runs code, so it needs --trust",
        }
    },
}
_TEXT = re.compile(r"(?P<meaning>.*?)(?: ?Unit: (?P<unit>.+?)\.)?(?: ?Source: (?P<source>.+)\.)?")


class KeyText(NamedTuple):
    """The parsed docstring of a field: ``MEANING Unit: UNIT. Source: SOURCE.``."""

    meaning: str
    unit: str
    source: str


def summary(cls: type[BaseModel]) -> str:
    """The first paragraph of a class's docstring, in one line."""
    return _one_line(inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0])


def key_texts(cls: type[BaseModel]) -> dict[str, KeyText]:
    """The docstring of each field, inherited fields included."""
    matches = {name: _TEXT.fullmatch(text) for name, text in _field_texts(cls).items()}
    return {
        name: KeyText(text["meaning"], text["unit"] or "-", text["source"] or "-")
        for name, text in matches.items()
        if text is not None
    }


def _field_texts(cls: type[BaseModel]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for part in reversed(cls.__mro__):
        own = vars(part).get("key_texts", {})
        path = getattr(sys.modules.get(part.__module__), "__file__", None)
        if issubclass(part, BaseModel) and path is not None and Path(path).is_file():
            own = own | _texts_of_module(path).get(part.__name__, {})
        texts |= {name: _one_line(text) for name, text in own.items()}
    return texts


@cache
def _texts_of_module(path: str) -> dict[str, dict[str, str]]:
    """The texts below the fields of every class of a module, by its name."""
    classes = ast.walk(ast.parse(Path(path).read_text(encoding="utf-8")))
    return {
        node.name: {
            field.target.id: text.value.value
            for field, text in pairwise(node.body)
            if isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        }
        for node in classes
        if isinstance(node, ast.ClassDef)
    }


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")


def schema_text(cls: type[BaseModel]) -> str:
    """The JSON Schema of a scenario file as the text of a file."""
    return json.dumps(json_schema(cls), indent=1) + "\n"


@cache
def json_schema(cls: type[BaseModel]) -> Schema:
    """JSON Schema (2020-12) of a scenario file, with every part of every table."""
    definitions = _Definitions()
    schema = _section(cls, definitions, None)
    parent = {"type": "string", "description": "The scenario to start from: a name or a path."}
    fitted_on = TypeAdapter(FittedOn).json_schema() | {
        "description": "The papers on which the values of this file were fitted.",
        "additionalProperties": False,
    }
    schema["properties"] = {"extends": parent, "fitted_on": fitted_on, **schema["properties"]}
    return {"$schema": DRAFT, "title": "Scenario", **schema, "$defs": definitions.schemas}


class _Definitions:
    """The ``$defs`` of one schema, named by class; of two classes of a name the second has a 2."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}
        self._names: dict[type[BaseModel], str] = {}

    def reference(self, cls: type[BaseModel], use: str | None) -> Schema:
        """A reference to the definition of a class, which is made where it is new."""
        if cls not in self._names:
            alike = sum(other.__name__ == cls.__name__ for other in self._names)
            name = f"{cls.__name__}{alike + 1}" if alike else cls.__name__
            self._names[cls] = name
            # Recorded before its section is made: a component may contain its own kind.
            self.schemas[name] = {}
            self.schemas[name].update(_section(cls, self, use))
        return {"$ref": f"#/$defs/{self._names[cls]}"}


def _section(cls: type[BaseModel], definitions: _Definitions, use: str | None) -> Schema:
    """The schema of one section; ``use`` is the name under which a table lists its class."""
    inlined = getattr(cls, "inlined", None)
    descriptions = _field_texts(cls)
    properties: dict[str, Schema] = {} if use is None else {"use": {"const": use}}
    for name in cls.model_fields:
        if name not in ("use", inlined):
            described = {"description": descriptions[name]} if descriptions.get(name) else {}
            properties[name] = _property(cls, name, definitions) | described
    required = [name for name, field in cls.model_fields.items() if field.is_required()]
    about: Schema = {"type": "object", "description": summary(cls)}
    closed = {"additionalProperties": False}
    if inlined is not None:
        # The section also takes the keys of one of several parts.
        variants = []
        for name, path in (part_field(cls, inlined).table or {}).items():
            part = _section(import_class(path), definitions, name)
            variants.append(part | {"properties": part["properties"] | properties})
        return {"description": about["description"], "anyOf": [*variants, _OUTSIDE_PART]}
    return (
        about | {"properties": properties} | closed | ({"required": required} if required else {})
    )


def _property(cls: type[BaseModel], name: str, definitions: _Definitions) -> Schema:
    _, classes, table, many = part_field(cls, name)
    if not classes:
        return plain_property(cls, name)
    if table is None:
        choices = [definitions.reference(cls_, None) for cls_ in classes]
        if many:
            return plain_property(cls, name) | {"items": choices[0]}
    else:
        choices = [definitions.reference(import_class(path), use) for use, path in table.items()]
        short = {"type": ["string", "number"]} if Duration in classes else {"enum": list(table)}
        choices += [_OUTSIDE_PART, short]
    choices += [form for form in other_forms(cls, name) if form not in choices]
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def plain_property(cls: type[BaseModel], name: str) -> Schema:
    """Pydantic's schema of one field, without its title and description."""
    schema = _pydantic_schema(cls)["properties"][name]
    return {key: schema[key] for key in schema if key not in ("title", "hint", "description")}


@cache
def _pydantic_schema(cls: type[BaseModel]) -> Schema:
    return cls.model_json_schema()


def other_forms(cls: type[BaseModel], name: str) -> list[Schema]:
    """The schemas of a field's values that are no parts: numbers, words, lists, null."""

    def members(schema: Schema) -> Iterator[Schema]:
        inside = schema.get("anyOf") or schema.get("oneOf")
        yield from chain.from_iterable(map(members, inside)) if inside else (schema,)

    forms = [form for form in members(plain_property(cls, name)) if form.get("type") != "object"]
    return [
        form for form in forms if form.keys() & {"type", "const", "enum"} and "$ref" not in form
    ]


_KINDS = {
    "integer": "integer",
    "number": "",
    "string": "text",
    "null": "`null`",
    "boolean": "`true`, `false`",
    "object": "mapping",
}
LISTED_PARTS = 9
"""Most components that a key lists by name; each has its own section."""
MORE = "'society list keys protocol.selection' prints a section, 'society list keys all' every key."
HEAD = """# Every key

Printed by `society list keys all`; do not edit. [Scenario files](scenarios.md) explains the format.

A value `[a, b]` is a number from a to b, with both ends; `(a, b)` excludes them. Units are in
parentheses. A `section` has keys of its own, listed below; a key with named values that have a
section each takes `use: NAME` and the keys of that section. A part that several keys take is
described once, at the first of them.

Parentheses after a meaning give the source of the default, or the value of a paper. *Published
program* is that of VirSci. Defaults marked *calibrated* are guesses that `society calibrate`
[fits](calibration.md). All other defaults of keys that change results are assumed by this project.

## Top level

"""


def render_keys(cls: type[BaseModel], section: str | None = None) -> str:
    """The keys of a section such as ``protocol.selection``, of ``all``, or of the top level."""
    sections = [*key_sections(cls)]
    if section is None:
        return "\n".join([*_without_markup(_lines(sections[:1])), "", MORE])
    if section == "all":
        return HEAD + "\n".join(_lines(sections)).rstrip()
    blocks = []
    for title, about, rows in sections:
        inside = tuple(row for row in rows if f"{row.key}.".startswith(f"{section}."))
        blocks += [KeySection(title, about, inside)] if inside else []
    if not blocks:
        names = sorted({row.key for _, _, rows in sections for row in rows})
        raise InputError(f"no key is called {section!r}{did_you_mean(section, names)}")
    return "\n".join(_without_markup(_lines(blocks))).strip()


def _without_markup(lines: Iterable[str]) -> Iterator[str]:
    """Lines of the page for a terminal: a key with its default and values, then its meaning."""
    for line in lines:
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line).replace("`", "")
        if line.startswith("| `"):
            key, default, values, meaning = re.split(r" (?<!\\)\| ", plain[2:-2])
            yield from (f"{key} = {default}    {values}", f"    {meaning}")
        elif not line.startswith("|"):
            yield plain.lstrip("# ")


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
    described: dict[KeyRow, tuple[str, int]] = {}
    above = ""
    for title, about, rows in sections:
        if title:
            top = re.split("[.:]", title)[0]
            if above != top != title:
                yield from ("", f"## `{top}`")
            yield from ("", f"{'##' if top == title else '###'} `{title}`", "", about)
            yield from ([""] if rows else [])
            above = top
        # A key that several sections share has its row at the first of them.
        shared: dict[str, list[tuple[int, str]]] = {}
        new: list[KeyRow] = []
        for number, row in enumerate(rows):
            name = row.key.rpartition(".")[2]
            first, place = described.setdefault(row._replace(key=name), (title, number))
            if first == title:
                new.append(row)
            else:
                shared.setdefault(first, []).append((place, f"`{name}`"))
        if new:
            yield from ("| key | default | values | meaning |", "|---|---|---|---|")
        for row in new:
            yield _table_row(row)
        if new and shared:
            yield ""
        for first, names in sorted(shared.items()):
            anchor = re.sub(r"[^\w -]", "", first.lower()).replace(" ", "-")
            yield f"As in [`{first}`](#{anchor}): {', '.join(_runs(names))}."


def _runs(names: list[tuple[int, str]]) -> Iterator[str]:
    """Names with their places in a table; four or more that follow one another as a range."""
    for _, group in groupby(enumerate(names), lambda one: one[1][0] - one[0]):
        run = [name for _, (_, name) in group]
        yield from ([f"{run[0]} to {run[-1]}"] if len(run) > 3 else run)


def _table_row(row: KeyRow) -> str:
    said = row.unit == "-" or row.unit in f"{row.key} {row.meaning.lower()}"
    unit = "" if said else f" ({row.unit})"
    source = "" if row.source == "-" else f" ({row.source})"
    cells = (f"`{row.key}`", row.default, row.takes + unit, row.meaning + source)
    return "| " + " | ".join(cell.strip().replace("|", "\\|") for cell in cells) + " |"


def _sections_below(
    cls: type[BaseModel], prefix: str, seen: set[type[BaseModel]]
) -> Iterator[KeySection]:
    """The sections of the parts of a part, each part once: ``seen`` have theirs already."""
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
            # Inherited keys of a section are not printed again.
            seen.update(
                base
                for part in new.values()
                for base in part.__mro__
                if issubclass(base, BaseModel)
            )
        for title, part in new.items():
            yield KeySection(title, summary(part), tuple(_key_rows(part, f"{path}.")))
            yield from _sections_below(part, f"{path}.", seen)


def _key_rows(cls: type[BaseModel], prefix: str) -> Iterator[KeyRow]:
    """The keys of a section."""
    texts = key_texts(cls)
    for name in cls.model_fields:
        if name not in ("use", getattr(cls, "inlined", None)):
            meaning, unit, source = texts.get(name, ("", "-", "-"))
            yield KeyRow(
                f"{prefix}{name}", _default(cls, name), unit, _takes(cls, name), meaning, source
            )


def _default(cls: type[BaseModel], name: str) -> str:
    field, _, table, _ = part_field(cls, name)
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, BaseModel):
        return f"`{name_of(type(value), table)}`" if table else "section"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    if isinstance(value, float) and _takes(cls, name).startswith("duration"):
        return f"`{write_days(value)}`" if value else "`0d`"
    if value is None or isinstance(value, bool):
        return f"`{'null' if value is None else str(value).lower()}`"
    return f"`{value}`"


def _takes(cls: type[BaseModel], name: str) -> str:
    field, bases, table, many = part_field(cls, name)
    words = []
    if table is not None:
        words = [f"`{use}`" for use in table]
        if len(words) > LISTED_PARTS:
            words = [f"one of {len(words)} parts"]
        if Duration in bases:
            words = ["duration or distribution"]
    elif bases:
        words = ["list of sections" if many else "section"]
    plain = plain_property(cls, name)
    forms = other_forms(cls, name) if bases else plain.get("anyOf", [plain])
    words += map(_words, () if many else forms)
    dropped = ("", "`null`") if field.default is None else ("",)
    return ", ".join(dict.fromkeys(word for word in words if word not in dropped))


def _words(schema: Schema) -> str:
    if "enum" in schema:
        return ", ".join(f"`{option}`" for option in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type")
    if kind == "array":
        return "list of " + (_words(schema.get("items", {})) or "numbers")
    kind = "duration" if isinstance(kind, list) else _KINDS.get(str(kind), "")
    return f"{kind} {_range(schema)}".strip() or ("number" if "type" in schema else "")


def _range(schema: Schema) -> str:
    """The bounds of a number, such as ``[0, 1)`` or ``> 0``."""
    low, high = (
        next(((key, schema[key]) for key in keys if key in schema), ("", 0))
        for keys in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
    )
    if low[0] and high[0]:
        ends = "[" if low[0] == "minimum" else "(", "]" if high[0] == "maximum" else ")"
        return f"{ends[0]}{_number(low[1])}, {_number(high[1])}{ends[1]}"
    if low[0]:
        return f"{'>=' if low[0] == 'minimum' else '>'} {_number(low[1])}"
    return ""


def _number(value: float) -> str:
    if abs(value) == 2**63:
        return "2^63" if value > 0 else "-2^63"
    return str(int(value) if value == int(value) else value)
