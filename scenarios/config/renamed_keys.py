"""The table of renamed keys of scenario files, and the rewriting of a file with it.

An old name is not read. The error names the new one, and ``society check FILE --rename`` writes it
into the file: lines are moved as they are, so that comments and order stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import read_plain_text, write_atomically
from virsci_society.scenarios.config.document import (
    dotted,
    find_scenario,
    key_path,
    read_document,
)
from virsci_society.scenarios.config.registry import class_of, field_parts, inlined_class
from virsci_society.scenarios.config.yaml_io import (
    CollectionNode,
    Key,
    KeyPath,
    MappingNode,
    Node,
    SequenceNode,
    compose,
    display_path,
    parse_yaml,
    read_yaml,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

_SECTIONS_OF_VIRSCI = {
    "topic": ("consensus", "restarts", "leaving"),
    "assessment": ("votes",),
    "abstract": ("self_review", "threshold", "new_ideas"),
    "discussion": (
        *("pacing", "max_turns", "decision_lag", "speaking_order", "invitation", "outsiders"),
        *("knowledge", "profiles"),
    ),
    "released_code": ("forced_after", "guests", "asking", "unreadable_votes", "tied_votes"),
}
RENAMED: Mapping[str, str] = MappingProxyType(
    {
        f"protocol.{key}": f"protocol.{section}.{key}"
        for section, keys in _SECTIONS_OF_VIRSCI.items()
        for key in keys
    }
    | {
        "protocol.idea_dialogue": "protocol.ideas.dialogue",
        "protocol.confidence.listed": "protocol.released_code.listed",
        "protocol.confidence.ranked_by": "protocol.released_code.ranked_by",
        "protocol.references.ballot": "protocol.released_code.ballot",
        "protocol.references.few_ideas": "protocol.released_code.few_ideas",
    }
)
"""Old dotted key to new dotted key. Keys of the parts of a mixture (``protocol.of.0.protocol.X``)
stand there as those of a protocol alone (``protocol.X``)."""
EMPTY = "free"
"""Stands for a section without keys: ``topic: free``."""
INDENT = "  "


def _depth(path: KeyPath) -> int:
    """Steps to the section that a key belongs to; a mixture has protocols below it."""
    depth = 1
    while path[depth - 1 : depth + 1] == ("protocol", "of") and len(path) > depth + 2:
        depth += 3
    return depth


def new_name(path: KeyPath) -> KeyPath | None:
    """The path of a key that was renamed; None for any other key."""
    above = _depth(path) - 1
    new = RENAMED.get(dotted(path[above:]))
    return None if new is None else (*path[:above], *_steps(new))


def _is_old(path: KeyPath, new: KeyPath, cls: type[BaseModel]) -> bool:
    """Has a section of this class the new key and not the old one? ``use`` may name any part."""
    depth = _depth(path)
    if _has_key(cls, path[depth:]):
        return False
    return path[:depth] != new[:depth] or _has_key(cls, new[depth:])


def _has_key(cls: type[BaseModel], steps: KeyPath) -> bool:
    inner = inlined_class(cls)
    field = (cls.model_fields | ({} if inner is None else inner.model_fields)).get(str(steps[0]))
    if field is None or len(steps) == 1:
        return field is not None
    bases, table = field_parts(field)
    # With a table, a part further down has the key; which part that is does not matter here.
    return table is not None or any(_has_key(below, steps[1:]) for below in bases)


def renamed_problem(path: KeyPath, cls: type[BaseModel] | None = None) -> str | None:
    """The problem of a key that stands under its old name; None for any other key.

    Args:
        path: of the key.
        cls: of the section in which it stands; None: it is not asked whether that has the new key.
    """
    new = new_name(path)
    directly = len(path) == _depth(path) + 1
    if new is None or (cls is not None and directly and not _is_old(path, new, cls)):
        return None
    return f"is now {dotted(new)}; 'society check FILE --rename' writes it"


def rename_keys(file: Path, scenario: type[BaseModel], *, trust: bool = False) -> list[str]:
    """Write the new names of keys into a scenario or study file, and nothing else.

    Args:
        file: to be changed.
        scenario: the class of a scenario, which has the sections.
        trust: let dotted paths after ``use`` be imported, which tells the keys of such a section.

    Returns:
        What was changed, one line for each key.

    Raises:
        InputError: it cannot be read, a section's keys cannot be told, or a key stands where its
            lines cannot be moved; the file is then as it was.
    """
    read_yaml(file)  # names every fault of the file as YAML
    label = display_path(file)
    text = read_plain_text(file)
    below = _parent(parse_yaml(text, label).data, file.parent)
    changes: list[str] = []
    # One key at a time: each move changes the lines of those that follow.
    while (found := _first_old(text, label, below, scenario, trust)) is not None:
        path, new = found
        line = _line(text, path, label)
        changed = _renamed_text(text, path, new, label)
        wanted = _moved(parse_yaml(text, label).data, path, new)
        if changed is None or parse_yaml(changed, label).data != wanted:
            raise InputError(
                f"{label}:{line}: {dotted(path)}: is now {dotted(new)}; its lines "
                "cannot be moved by themselves, so write it by hand"
            )
        changes.append(f"{label}: {dotted(path)} -> {dotted(new)}")
        text = changed
    if changes:
        write_atomically(file, text)
    return changes


def _line(text: str, path: KeyPath, label: str) -> int:
    return _node_at(compose(text, label), path)[0].start_mark.line + 1


def _parent(data: Mapping[Key, Any], folder: Path) -> Mapping[Key, Any]:
    """The data of the scenario that a scenario extends, or that a study has as its base."""
    parent = data.get("extends", data.get("base"))
    try:
        return read_document(find_scenario(str(parent), folder)).data if parent else {}
    except InputError:
        return {}  # named when the file itself is checked


def _first_old(
    text: str, label: str, below: Mapping[Key, Any], scenario: type[BaseModel], trust: bool
) -> tuple[KeyPath, KeyPath] | None:
    """The first key under an old name, with the path of its new one; None where there is none."""
    data = parse_yaml(text, label).data
    for path, root, inside, new in _candidates(compose(text, label)):
        own: Any = data
        for step in path[:root]:
            own = own[step]
        section = inside[: _depth(inside)]
        # What a key stands in says most of its part, then what is set for all, then the parent.
        given = (_used(one, section) for one in (own, data.get("set"), data, below))
        try:
            cls = _class_of(scenario, section, next(filter(None, given), None), trust)
        except InputError as error:
            line = _line(text, path, label)
            raise InputError(f"{label}:{line}: {dotted(path)}: {error}") from error
        if _is_old(inside, new, cls):
            return path, _place_of(path, root, inside, new)
    return None


def _place_of(path: KeyPath, root: int, inside: KeyPath, new: KeyPath) -> KeyPath:
    """The path in the file of a new path in a scenario; a dotted key stays a dotted key."""
    last = len(_steps(str(path[-1])))
    above = len(inside) - last
    if new[:above] != inside[:above]:
        return (*path[:root], *new)
    rest = new[above:]
    return (*path[:-1], dotted(rest)) if last > 1 else (*path[:-1], *rest)


def _used(scope: Any, section: KeyPath) -> str | None:
    """The part that a section uses, by the nested or dotted keys of a scope; None: not said."""
    if not isinstance(scope, Mapping):
        return None
    nested: Any = scope
    for step in section:
        try:
            nested = nested[step]
        except (KeyError, IndexError, TypeError):
            nested = None
            break
    name = dotted(section)
    for one in (nested, scope.get(name), {"use": scope.get(f"{name}.use")}):
        use = one.get("use") if isinstance(one, Mapping) else one
        if isinstance(use, str):
            return use
    return None


def _class_of(
    scenario: type[BaseModel], section: KeyPath, use: str | None, trust: bool
) -> type[BaseModel]:
    """The class of a section of a scenario, whose part ``use`` names.

    Raises:
        InputError: there is no such part, or it may not be imported.
    """
    field = scenario.model_fields[str(section[-1])]
    bases, table = field_parts(field)
    if use is None or table is None:
        return type(field.get_default(call_default_factory=True, validated_data={}))
    return class_of(use, table, bases[0], trust=trust)


def _steps(key: str) -> KeyPath:
    return key_path(key) or (key,)


def _candidates(
    node: Node | None, path: KeyPath = (), root: int = 0, inside: KeyPath = ()
) -> Iterator[tuple[KeyPath, int, KeyPath, KeyPath]]:
    """Every key that a part may have under an old name, in the order of the file.

    Yielded are its path in the file, the steps of it above the scenario (``set`` of interventions,
    arms and studies holds keys of one), its path in that scenario, and its new path there. A dotted
    key is one step of the file.
    """
    if isinstance(node, SequenceNode):
        for place, one in enumerate(node.value):
            yield from _candidates(one, (*path, place), root, (*inside, place))
    if not isinstance(node, MappingNode):
        return
    for key, value in node.value:
        here, own = (*path, str(key.value)), (*inside, *_steps(str(key.value)))
        if (new := new_name(own)) is not None:
            yield here, root, own, new
        elif key.value == "set":
            yield from _candidates(value, here, len(here))
        else:
            yield from _candidates(value, here, root, own)


def _node_at(node: Any, path: KeyPath) -> tuple[Node, Node]:
    """The key (of a list, the item) and the value at a path that is there."""
    key = node
    for step in path:
        if isinstance(step, int):
            key = node = node.value[step]
        else:
            key, node = next(pair for pair in node.value if str(pair[0].value) == step)
    return key, node


def _renamed_text(text: str, path: KeyPath, new: KeyPath, label: str) -> str | None:
    """The text with one key under its new name; None where its lines cannot be moved."""
    text += "" if text.endswith("\n") else "\n"
    top = compose(text, label)
    key, value = _node_at(top, path)
    column, start = key.start_mark.column, key.start_mark.line
    text = f"{text[: key.start_mark.index]}{new[-1]}{text[key.end_mark.index :]}"
    if path[:-1] == new[:-1]:
        return text
    lines = text.splitlines(keepends=True)
    if lines[start][:column].strip():
        return None  # within braces, or the first key of a list item
    known = len(new) - 1
    while known and not _holds(top, new[:known]):
        known -= 1
    first, end = start, _last_line(value) + 1
    if new[:known] == path[:-1]:
        target, indent = first, column  # a new section in the same place
    else:
        section, below = _node_at(top, new[:known])
        if below.value == EMPTY:
            row = below.start_mark.line
            lines[row] = lines[row].replace(f" {EMPTY}", "", 1)
            target, indent = row + 1, section.start_mark.column + len(INDENT)
        elif not isinstance(below, MappingNode) or below.flow_style or not below.value:
            return None
        else:
            target, indent = _last_line(below) + 1, below.value[0][0].start_mark.column
        while first and lines[first - 1].startswith(" " * column + "#"):
            first -= 1  # comments above a key go with it
    sections = new[known:-1]
    moved = [f"{' ' * indent}{INDENT * depth}{one}:\n" for depth, one in enumerate(sections)]
    moved += _indented(lines[first:end], indent + len(INDENT) * len(sections) - column)
    if target >= end:
        return "".join([*lines[:first], *lines[end:target], *moved, *lines[target:]])
    return "".join([*lines[:target], *moved, *lines[target:first], *lines[end:]])


def _indented(lines: Sequence[str], by: int) -> list[str]:
    """Lines so many columns further right, or left where it is negative."""
    return [" " * by + line if by >= 0 else line[-by:] for line in lines]


def _holds(node: Any, path: KeyPath) -> bool:
    try:
        _node_at(node, path)
    except (StopIteration, IndexError, TypeError, AttributeError, ValueError):
        return False
    return True


def _last_line(node: Node) -> int:
    """The last line of a value, without the comments and blank lines that follow it."""
    if isinstance(node, CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    end = node.end_mark
    return end.line - (1 if end.column == 0 and end.line > node.start_mark.line else 0)


def _moved(data: Any, path: KeyPath, new: KeyPath) -> Any:
    """The data with one value under its new path, for comparison with what is written."""
    moved = deepcopy(data)
    below = moved
    for step in path[:-1]:
        below = below[step]
    value = below.pop(path[-1])
    below = moved
    for step in new[:-1]:
        if not isinstance(step, int) and below.get(step, EMPTY) == EMPTY:
            below[step] = {}
        below = below[step]
    below[new[-1]] = value
    return moved
