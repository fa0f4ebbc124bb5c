"""YAML read with the place of every key, and written.

A stranger's file is bounded in size, depth and aliases; PyYAML's own loaders keep no places.
"""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from virsci_society.agents.errors import InputError

MAX_BYTES = 256 * 1024
MAX_VALUES = 10_000
MAX_DEPTH = 32
MAX_INTEGER = 2**63
"""No key takes a whole number as large; a longer one could not even be written in a message."""
USABLE = "write a finite one, and a whole one below 2^63"

Key = str | int
KeyPath = tuple[Key, ...]

_PREFIX = "tag:yaml.org,2002:"
_SCALARS: tuple[tuple[str, str, str], ...] = (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
)


class _Loader(yaml.SafeLoader):
    """YAML 1.2's core schema; nodes are composed only, nothing is constructed from them."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012


class _Dumper(yaml.SafeDumper):
    """Quotes exactly what the loader would otherwise read as something else."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012


for _name, _pattern, _first in _SCALARS:
    for _side in (_Loader, _Dumper):
        _side.add_implicit_resolver(
            _PREFIX + _name,
            re.compile(f"(?:{_pattern})$"),
            [*_first, ""] if _name == "null" else [*_first],
        )


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """One YAML file; ``marks`` has ``file:line:column`` of every key and list item, by its path."""

    data: dict[Key, Any]
    marks: dict[KeyPath, str] = field(default_factory=dict)


def read_yaml(path: Path) -> YamlDocument:
    """Read one scenario file."""
    label = display_path(path)
    if not path.exists():
        raise InputError(f"{label}: no such file")
    if not path.is_file():
        raise InputError(f"{label}: not a plain file; a scenario is a YAML text file")
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{label}: cannot be read: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise InputError(
            f"{label}: larger than {MAX_BYTES // 1024} KiB, which no scenario is; give a scenario "
            "file"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{label}: not UTF-8 text (byte {error.start}); save it as plain text in UTF-8"
        ) from error
    return parse_yaml(text, label)


def parse_yaml(text: str, label: str) -> YamlDocument:
    """The data of a YAML text whose top level is a mapping; an empty text is an empty mapping."""
    node = compose(text, label)
    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
        return YamlDocument({})
    if not isinstance(node, yaml.MappingNode):
        where = _place(node, label)
        raise InputError(f"{where}: a scenario is a mapping of keys to values, such as 'seed: 7'")
    reader = _Reader(label)
    data = reader.value(node, ())
    if reader.faults:
        raise InputError("\n".join(reader.faults))
    return YamlDocument(data, reader.marks)


def parse_value(text: str, label: str) -> Any:
    """One value in YAML flow style, such as ``3``, ``off`` or ``{use: uniform}``."""
    if len(text) > MAX_BYTES:
        raise InputError(f"{label}: longer than {MAX_BYTES // 1024} KiB")
    node = compose(text, label)
    if node is None:
        return None
    reader = _Reader(label, located=False)
    value = reader.value(node, ())
    if reader.faults:
        raise InputError("\n".join(reader.faults))
    return value


def write_yaml(data: Any) -> str:
    """Plain data as YAML text; ``parse_yaml`` reads it back equal."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100, indent=2)


def display_path(path: Path) -> str:
    """A path for messages: relative if the file is below the current folder."""
    absolute = os.path.abspath(path)
    relative = os.path.relpath(absolute)
    return absolute if relative.startswith("..") else relative


@lru_cache(maxsize=64)  # a study reads the same base for each of its arms; nobody changes a node
def compose(text: str, label: str) -> yaml.Node | None:
    """The nodes of a YAML text with their places; None of an empty one."""
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{label}:{mark.line + 1}:{mark.column + 1}" if mark else label
        problem = error.problem or error.context or "cannot be read"
        hint = "; indent with spaces" if "'\\t'" in problem else ""
        raise InputError(f"{where}: not YAML: {problem}{hint}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{label}: not YAML: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise InputError(f"{label}: nested deeper than {MAX_DEPTH} levels") from error
    return node


class _Reader:
    """Turns composed nodes into data; counts values, because aliases can multiply them."""

    def __init__(self, label: str, *, located: bool = True) -> None:
        self.label, self.located = label, located
        self.marks: dict[KeyPath, str] = {}
        self.faults: list[str] = []
        self._values = 0

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self._values += 1
        if self._values > MAX_VALUES:
            raise InputError(f"{self._place(node)}: unfolds to more than {MAX_VALUES} values")
        if len(path) > MAX_DEPTH:
            raise InputError(f"{self._place(node)}: nested deeper than {MAX_DEPTH} levels")
        kind = node.tag.removeprefix(_PREFIX)
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            nodes = {(*path, number): item for number, item in enumerate(node.value)}
            self.marks |= {at: self._place(item) for at, item in nodes.items()}
            return [self.value(item, at) for at, item in nodes.items()]
        if isinstance(node, yaml.ScalarNode) and kind in ("str", "int", "float", "bool", "null"):
            return self._scalar(node, kind)
        self._fault(node, f"tag {node.tag!r} is not allowed; a scenario contains plain values only")
        return None

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[Key, Any]:
        data: dict[Key, Any] = {}
        lines: dict[Key, int] = {}
        for key_node, value_node in node.value:
            kind = key_node.tag.removeprefix(_PREFIX)
            key: Key | None = None
            if isinstance(key_node, yaml.ScalarNode) and kind in ("str", "int"):
                key = self._scalar(key_node, kind)
            else:
                self._fault(key_node, "a key must be a word or a whole number")
            if key in lines:
                message = f"key {key!r} appears twice (first in line {lines[key]}); remove one"
                self._fault(key_node, message)
            elif key is not None:
                lines[key] = key_node.start_mark.line + 1
                self.marks[(*path, key)] = self._place(key_node)
                data[key] = self.value(value_node, (*path, key))
        return data

    def _scalar(self, node: yaml.ScalarNode, kind: str) -> Any:
        text = str(node.value)
        if kind == "bool":
            return text.lower() == "true"
        if kind in ("str", "null"):
            return text if kind == "str" else None
        with suppress(ValueError):  # also of digits that Python does not convert
            if kind == "int":
                whole = int(text, 0) if text[:2] in ("0o", "0x") else int(text)
                if abs(whole) < MAX_INTEGER:
                    return whole
            else:
                number = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
                if math.isfinite(number):
                    return number
        self._fault(node, f"{text[:40]!r} is not a usable number; {USABLE}")
        return None

    def _place(self, node: yaml.Node) -> str:
        return _place(node, self.label) if self.located else self.label

    def _fault(self, node: yaml.Node, problem: str) -> None:
        self.faults.append(f"{self._place(node)}: {problem}")


def _place(node: yaml.Node, label: str) -> str:
    return f"{label}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
