"""Meanings: what a part and its fields say of themselves in the source."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from pathlib import Path

from pydantic import BaseModel


def summary(cls: type[BaseModel]) -> str:
    """The first paragraph of a class's docstring, in one line."""
    text = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0]
    return _one_line(text)


def meanings(cls: type[BaseModel]) -> dict[str, str]:
    """What each field means, from the texts below the fields and from ``Attributes:``."""
    told: dict[str, str] = {}
    for part in reversed(cls.__mro__):
        if part is BaseModel or not issubclass(part, BaseModel):
            continue
        told.update(_attributes(inspect.cleandoc(part.__doc__ or "")))
        if Path(inspect.getsourcefile(part) or "").is_file():
            told.update(_below_fields(part))
    return told


def _below_fields(cls: type) -> dict[str, str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    found = {}
    for field, text in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            value = text.value if isinstance(text, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found[field.target.id] = _one_line(value.value)
    return found


def _attributes(doc: str) -> dict[str, str]:
    _, _, section = doc.partition("Attributes:\n")
    found: dict[str, str] = {}
    for line in section.split("\n\n")[0].splitlines():
        entry = re.match(r"    (\w+): (.*)", line)
        if entry:
            found[entry[1]] = entry[2]
        elif found:
            last = list(found)[-1]
            found[last] += " " + line.strip()
    return {name: _one_line(text) for name, text in found.items()}


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")
