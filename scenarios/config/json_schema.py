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
from typing import Any, NamedTuple

from pydantic import BaseModel, TypeAdapter

from virsci_society.scenarios.config.document import FittedOn
from virsci_society.scenarios.config.reader import inlined_class, part_field
from virsci_society.scenarios.config.registry import import_class
from virsci_society.society.kernel.durations import Duration

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
    """What the text below a field says, as ``MEANING Unit: UNIT. Source: SOURCE.`` gives it.

    The unit is a dash where a value has none, and the source that of a key of execution, which
    changes nothing that happens.
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
    found = {name: _TEXT.fullmatch(text) for name, text in _field_texts(cls).items()}
    return {
        name: KeyText(text["meaning"], text["unit"] or "-", text["source"] or "-")
        for name, text in found.items()
        if text is not None
    }


def _field_texts(cls: type[BaseModel]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for part in reversed(cls.__mro__):
        own = vars(part).get("key_texts", {})
        path = getattr(sys.modules.get(part.__module__), "__file__", None)
        if issubclass(part, BaseModel) and path is not None and Path(path).is_file():
            own = own | _texts_of_module(path).get(part.__qualname__, {})
        texts |= {name: _one_line(text) for name, text in own.items()}
    return texts


@cache
def _texts_of_module(path: str) -> dict[str, dict[str, str]]:
    """The texts below the fields of every class of a module, by its qualified name."""
    texts: dict[str, dict[str, str]] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                visit(child, f"{prefix}{child.name}.<locals>.")
            elif not isinstance(child, ast.ClassDef):
                visit(child, prefix)
            else:
                visit(child, f"{prefix}{child.name}.")
                texts[prefix + child.name] = {
                    field.target.id: text.value.value
                    for field, text in itertools.pairwise(child.body)
                    if isinstance(field, ast.AnnAssign)
                    and isinstance(field.target, ast.Name)
                    and isinstance(text, ast.Expr)
                    and isinstance(text.value, ast.Constant)
                    and isinstance(text.value.value, str)
                }

    visit(ast.parse(Path(path).read_text(encoding="utf-8")), "")
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
    fitted_on = TypeAdapter(FittedOn).json_schema() | {
        "description": "The papers on which the values of this file were fitted.",
        "additionalProperties": False,
    }
    schema["properties"] = {"extends": parent, "fitted_on": fitted_on, **schema["properties"]}
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
    inlined, inner = getattr(cls, "inlined", None), inlined_class(cls)
    descriptions = _field_texts(cls)
    properties: dict[str, Schema] = {} if use is None else {"use": {"const": use}}
    for name in cls.model_fields:
        if name not in ("use", inlined):
            described = {"description": descriptions[name]} if descriptions.get(name) else {}
            properties[name] = _property(cls, name, definitions) | described
    required = [name for name, field in cls.model_fields.items() if field.is_required()]
    about: Schema = {"type": "object", "description": summary(cls)}
    closed = {"additionalProperties": False}
    if inner is not None:
        beside = _section(inner, definitions, None)
        properties.update(beside["properties"])
        required += beside.get("required", [])
    elif inlined is not None:
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
        choices = [definitions.reference(one, None) for one in classes]
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
    """The schemas of a field's values that are no parts: numbers, words, null."""
    schema = plain_property(cls, name)
    plain = [form for form in schema.get("anyOf", [schema]) if form.get("type") != "object"]
    return [
        form for form in plain if form.keys() & {"type", "const", "enum"} and "$ref" not in form
    ]
