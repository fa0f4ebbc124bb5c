"""Descriptions of a settings class and of its fields, for the schema and the reference page.

The texts below the fields are read from the source when they are asked for. pydantic could read
them (``use_attribute_docstrings``), but it does so whenever a class is made: that adds a fifth of a
second to the start of every command that reads a scenario, for what only ``society list keys`` and
the end of a run need.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import sys
from functools import cache
from pathlib import Path

from pydantic import BaseModel


def summary(cls: type[BaseModel]) -> str:
    """The first paragraph of a class's docstring, in one line."""
    text = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0]
    return _one_line(text)


def field_descriptions(cls: type[BaseModel]) -> dict[str, str]:
    """The description of each field that has one, inherited ones included.

    It is the text below the field, or an entry of the class's ``Attributes:`` section. A class
    without source, as in an interactive session, has no texts below its fields.
    """
    descriptions: dict[str, str] = {}
    for part in reversed(cls.__mro__):
        if part is BaseModel or not issubclass(part, BaseModel):
            continue
        descriptions.update(_attributes_section(inspect.cleandoc(part.__doc__ or "")))
        path = getattr(sys.modules.get(part.__module__), "__file__", None)
        if path is not None and Path(path).is_file():
            descriptions.update(_texts_below_fields(path).get(part.__qualname__, {}))
    return descriptions


@cache
def _texts_below_fields(path: str) -> dict[str, dict[str, str]]:
    """The texts below the fields of every class of a module, by its qualified name."""
    texts: dict[str, dict[str, str]] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                texts[prefix + child.name] = _fields_of(child)
                visit(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.FunctionDef):
                visit(child, f"{prefix}{child.name}.<locals>.")
            else:
                visit(child, prefix)

    visit(ast.parse(Path(path).read_text(encoding="utf-8")), "")
    return texts


def _fields_of(cls: ast.ClassDef) -> dict[str, str]:
    texts = {}
    for field, text in itertools.pairwise(cls.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            value = text.value if isinstance(text, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                texts[field.target.id] = _one_line(value.value)
    return texts


def _attributes_section(doc: str) -> dict[str, str]:
    _, _, section = doc.partition("Attributes:\n")
    descriptions: dict[str, str] = {}
    for line in section.split("\n\n")[0].splitlines():
        entry = re.match(r"    (\w+): (.*)", line)
        if entry:
            descriptions[entry[1]] = entry[2]
        elif descriptions:
            last = list(descriptions)[-1]
            descriptions[last] += " " + line.strip()
    return {name: _one_line(text) for name, text in descriptions.items()}


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")
