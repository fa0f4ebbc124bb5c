"""The table of renamed keys of scenario files, and the rewriting of a file with it.

An old name is not read. The error names the new one, and ``society check FILE --rename`` writes it
into the file: lines are moved as they are, so that comments and order stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import read_plain_text, write_atomically
from virsci_society.scenarios.config.yaml_io import (
    CollectionNode,
    KeyPath,
    MappingNode,
    Node,
    SequenceNode,
    compose,
    display_path,
    parse_yaml,
    read_yaml,
)

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
INDENT = "  "


def new_name(path: KeyPath) -> str | None:
    """The new dotted key of a key that was renamed; None for any other key."""
    steps = [str(step) for step in path]
    before: list[str] = []
    while steps[:2] == ["protocol", "of"] and len(steps) > 3:
        before, steps = [*before, *steps[:3]], steps[3:]
    new = RENAMED.get(".".join(steps))
    return None if new is None else ".".join([*before, new])


def renamed_problem(path: KeyPath) -> str | None:
    """The problem of a key that stands under its old name; None for any other key."""
    new = new_name(path)
    return None if new is None else f"is now {new}; 'society check FILE --rename' writes it"


def rename_keys(file: Path) -> list[str]:
    """Write the new names of keys into a scenario or study file, and nothing else.

    Returns:
        What was changed, one line for each key.

    Raises:
        InputError: it cannot be read, or a key stands where its lines cannot be moved; the file is
            then as it was.
    """
    read_yaml(file)  # names every fault of the file as YAML
    label = display_path(file)
    text = read_plain_text(file)
    changes: list[str] = []
    while (found := next(_old_keys(compose(text, label)), None)) is not None:
        path, new = found
        line = _node_at(compose(text, label), path)[0].start_mark.line + 1
        changed = _renamed_text(text, path, new, label)
        wanted = _moved(parse_yaml(text, label).data, path, new)
        if changed is None or parse_yaml(changed, label).data != wanted:
            raise InputError(
                f"{label}:{line}: {_dotted(path)}: is now {_dotted(new)}; its lines "
                "cannot be moved by themselves, so write it by hand"
            )
        changes.append(f"{label}: {_dotted(path)} -> {_dotted(new)}")
        text = changed
    if changes:
        write_atomically(file, text)
    return changes


def _dotted(path: Sequence[str | int]) -> str:
    return ".".join(map(str, path))


def _old_keys(node: Node | None, path: KeyPath = ()) -> Iterator[tuple[KeyPath, KeyPath]]:
    """Every key under an old name with the path of its new one, in the order of the file.

    Sections, and dotted keys as in ``set`` of interventions and of arms, whose path is one step.
    """
    if isinstance(node, SequenceNode):
        for place, one in enumerate(node.value):
            yield from _old_keys(one, (*path, place))
    if not isinstance(node, MappingNode):
        return
    for key, value in node.value:
        here = (*path, str(key.value))
        if (new := new_name(here)) is not None:
            yield here, tuple(int(one) if one.isdecimal() else one for one in new.split("."))
        elif (new := new_name(tuple(str(key.value).split(".")))) is not None and "." in key.value:
            yield here, (*path, new)
        else:
            yield from _old_keys(value, here)


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
        below = _node_at(top, new[:known])[1]
        if not isinstance(below, MappingNode) or below.flow_style or not below.value:
            return None
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
        below = below[step] if isinstance(step, int) else below.setdefault(step, {})
    below[new[-1]] = value
    return moved
