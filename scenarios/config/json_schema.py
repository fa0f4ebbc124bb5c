"""Scenario keys as their classes describe them, and the JSON Schema of scenario files for editors.

A key is a field: the text below it says what it means, in which unit it is and where its value
comes from, and nothing else does. These texts are read from the source when they are asked for.
pydantic could read them (``use_attribute_docstrings``), but it does so whenever a class is made:
that adds a fifth of a second to the start of every command that reads a scenario, for what only
``society list keys`` and ``society new`` need.

pydantic's own schema does not know ``use:`` and its tables, so sections are put together here and
only single values are left to pydantic. Definitions bear the names of classes, not of modules, so
that the schema stays the same when a class moves to another module.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from virsci_society.scenarios.config.document import FittedOn
from virsci_society.scenarios.config.registry import (
    field_parts,
    import_class,
    inlined_class,
    is_list,
)
from virsci_society.society.kernel.durations import Duration

DRAFT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

_OUTSIDE: Schema = {
    "type": "string",
    "pattern": ":",
    "description": "package.module:Class; runs code, so it needs --trust",
}
_TEXT = re.compile(r"(?P<meaning>.*?)(?: ?Unit: (?P<unit>.+?)\.)?(?: ?Source: (?P<source>.+)\.)?")


class KeyText(NamedTuple):
    """What the text below a field says, as ``MEANING Unit: UNIT. Source: SOURCE.`` gives it.

    Attributes:
        unit: of its value; a dash where it has none.
        source: a paper, this project, or "assumed"; a dash for a key of execution, which changes
            nothing that happens.
    """

    meaning: str
    unit: str
    source: str


def summary(cls: type[BaseModel]) -> str:
    """The first paragraph of a class's docstring, in one line."""
    return _one_line(inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0])


def key_texts(cls: type[BaseModel]) -> dict[str, KeyText]:
    """What stands below each field, inherited ones included.

    A class without source, as in an interactive session, has no texts.
    """
    texts = {}
    for name, text in _field_texts(cls).items():
        found = cast(re.Match[str], _TEXT.fullmatch(text))
        texts[name] = KeyText(found["meaning"], found["unit"] or "-", found["source"] or "-")
    return texts


def _field_texts(cls: type[BaseModel]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for part in reversed(cls.__mro__):
        texts.update(
            {name: _one_line(text) for name, text in vars(part).get("key_texts", {}).items()}
        )
        path = getattr(sys.modules.get(part.__module__), "__file__", None)
        if issubclass(part, BaseModel) and path is not None and Path(path).is_file():
            texts.update(_texts_of_module(path).get(part.__qualname__, {}))
    return texts


@cache
def _texts_of_module(path: str) -> dict[str, dict[str, str]]:
    """The texts below the fields of every class of a module, by its qualified name."""
    texts: dict[str, dict[str, str]] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                texts[prefix + child.name] = _texts_of_class(child)
                visit(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.FunctionDef):
                visit(child, f"{prefix}{child.name}.<locals>.")
            else:
                visit(child, prefix)

    visit(ast.parse(Path(path).read_text(encoding="utf-8")), "")
    return texts


def _texts_of_class(cls: ast.ClassDef) -> dict[str, str]:
    texts = {}
    for field, text in itertools.pairwise(cls.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            value = text.value if isinstance(text, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                texts[field.target.id] = _one_line(value.value)
    return texts


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
    above = {"extends": parent, "fitted_on": dict(FittedOn.SCHEMA)}
    schema["properties"] = {**above, **schema["properties"]}
    return {"$schema": DRAFT, "title": "Scenario", **schema, "$defs": definitions.schemas}


class _Definitions:
    """The ``$defs`` of one schema, each named by its class.

    Two classes of the same name get numbers in the order in which the schema comes to them.
    """

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}
        self._names: dict[type[BaseModel], str] = {}

    def reference(self, cls: type[BaseModel], use: str | None) -> Schema:
        """A reference to the definition of a class, which is made where it is new."""
        if cls not in self._names:
            alike = sum(other.__name__ == cls.__name__ for other in self._names)
            name = f"{cls.__name__}{alike + 1}" if alike else cls.__name__
            self._names[cls] = name
            # Noted before its section is made: a part may hold parts of its own kind.
            self.schemas[name] = {}
            self.schemas[name].update(_section(cls, self, use))
        return {"$ref": f"#/$defs/{self._names[cls]}"}


def _section(cls: type[BaseModel], definitions: _Definitions, use: str | None) -> Schema:
    """The schema of one section; ``use`` is the name under which a table lists its class."""
    descriptions = _field_texts(cls)
    properties: dict[str, Schema] = {} if use is None else {"use": {"const": use}}
    for name, field in cls.model_fields.items():
        if name in ("use", getattr(cls, "inlined", None)):
            continue
        described = {"description": descriptions[name]} if descriptions.get(name) else {}
        properties[name] = _property(cls, name, field, definitions) | described
    required = [name for name, field in cls.model_fields.items() if field.is_required()]
    schema: Schema = {
        "type": "object",
        "description": summary(cls),
        "properties": properties,
        "additionalProperties": False,
    }
    inlined, inner = getattr(cls, "inlined", None), inlined_class(cls)
    if inner is not None:
        beside = _section(inner, definitions, None)
        properties.update(beside["properties"])
        required += beside.get("required", [])
    elif inlined is not None:
        return _with_inlined(schema, cls.model_fields[inlined], definitions)
    return schema | ({"required": required} if required else {})


def _with_inlined(schema: Schema, field: FieldInfo, definitions: _Definitions) -> Schema:
    """A section that also takes the keys of one of several parts."""
    _, table = field_parts(field)
    variants = []
    for use, path in (table or {}).items():
        part = _section(import_class(path), definitions, use)
        variants.append(part | {"properties": part["properties"] | schema["properties"]})
    outside = {"type": "object", "required": ["use"], "properties": {"use": _OUTSIDE}}
    return {"description": schema["description"], "anyOf": [*variants, outside]}


def _property(
    cls: type[BaseModel], name: str, field: FieldInfo, definitions: _Definitions
) -> Schema:
    bases, table = field_parts(field)
    if not bases:
        return plain_property(cls, name)
    choices: list[Schema] = []
    if table is None:
        choices = [definitions.reference(base, None) for base in bases]
        if is_list(field):
            return plain_property(cls, name) | {"items": choices[0]}
    else:
        for use, path in table.items():
            choices.append(definitions.reference(import_class(path), use))
        choices.append({"type": "object", "required": ["use"], "properties": {"use": _OUTSIDE}})
        short = {"type": ["string", "number"]} if Duration in bases else {"enum": list(table)}
        choices.append(short)
    choices += [form for form in other_forms(cls, name) if form not in choices]
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def plain_property(cls: type[BaseModel], name: str) -> Schema:
    """Pydantic's schema of one field, without its title and description."""
    schema = cast(Schema, _pydantic_schema(cls)["properties"][name])
    return {
        key: value for key, value in schema.items() if key not in ("title", "hint", "description")
    }


@cache
def _pydantic_schema(cls: type[BaseModel]) -> Schema:
    return cls.model_json_schema()


def other_forms(cls: type[BaseModel], name: str) -> list[Schema]:
    """The schemas of a field's values that are no parts: numbers, words, null."""
    schema = plain_property(cls, name)
    members = schema.get("anyOf", [schema])
    plain = [form for form in members if "$ref" not in form and form.get("type") != "object"]
    return [form for form in plain if form.keys() & {"type", "const", "enum"}]
