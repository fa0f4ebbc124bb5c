"""Parts from outside the project, by entry points and by path, and the message where they fail.

An installed package names its parts in the entry-point group ``virsci_society.KIND``, such as
``metrics``; a scenario then uses the entry point's name like one of ours. Whoever
installed the package has trusted it, so no ``--trust`` is needed. A name of ours is never taken by
another package. Any other class is named as ``package.module:Class`` and needs ``--trust``.

What code from outside raises is its author's to mend, so it is told with the file and the line, and
not as a fault of this program.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from traceback import walk_tb
from types import FrameType
from typing import Any

from virsci_society.agents.errors import InputError

GROUP = "virsci_society."
"""What the names of our entry-point groups begin with; the kind follows."""
_imported: dict[str, None] = {}
"""Paths of the classes from outside that this process has imported; like ``sys.modules``."""


@dataclass(frozen=True, slots=True)
class InstalledPart:
    """A part that an installed package adds."""

    kind: str
    name: str
    path: str
    package: str


@cache
def installed_parts() -> tuple[InstalledPart, ...]:
    """Every part that installed packages add, by kind and name; nothing of them is imported."""
    # The start of every command passes through this file; most need no package's metadata.
    from importlib import metadata

    found = set()
    for package in metadata.distributions():
        for entry in package.entry_points:
            if entry.group.startswith(GROUP):
                kind, title = entry.group.removeprefix(GROUP), f"{package.name} {package.version}"
                found.add((kind, entry.name, entry.value, title))
    return tuple(InstalledPart(*one) for one in sorted(found))


def installed_of(kind: str) -> dict[str, str]:
    """Names and paths of the parts of a kind, such as ``protocols``, that packages add."""
    # Of two packages that add the same name, the first by path.
    return {one.name: one.path for one in reversed(installed_parts()) if one.kind == kind}


def import_member(path: str) -> Any:
    """The object behind ``module:Name``."""
    module, _, name = path.partition(":")
    outside = module.split(".")[0] != "virsci_society"
    if outside:
        _imported[path] = None
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{path!r} cannot be imported: {error}") from error
    except Exception as error:
        if not outside:
            raise
        raise InputError(f"{path!r} cannot be imported: {_describe(error)}") from error


def fault_in_outside_code(error: BaseException) -> str | None:
    """The message for an error of a run with classes from outside; None where there are none.

    The innermost line in a module of such a class is named, also where it called the project's own
    code; of a method that the class inherits, the class is named. Where neither is found, a class
    may have returned something else than it should, so that the error arose later.
    """
    if not _imported:
        return None
    what = ": ".join(filter(None, (type(error).__name__, str(error))))
    end = "mend your class; the same command resumes the run"
    for frame, line in _frames(error):
        place = _place_outside(frame, line)
        if place is not None:
            return f"{place}: your class: {frame.f_code.co_name} failed with {what}\n{end}"
    frame, line = next(_frames(error))
    return (
        f"{', '.join(_imported)}: your class may return something else than its base class says: "
        f"{what}, in {frame.f_code.co_name} ({frame.f_code.co_filename}:{line})\n{end}"
    )


def _place_outside(frame: FrameType, line: int) -> str | None:
    """File and line of a frame of code from outside, or of the class whose method it runs."""
    packages = {path.partition(":")[0].split(".")[0] for path in _imported}
    if str(frame.f_globals.get("__name__")).split(".")[0] in packages:
        return f"{frame.f_code.co_filename}:{line}"
    cls = type(frame.f_locals.get("self"))
    if cls.__module__.split(".")[0] not in packages:
        return None
    try:
        return f"{inspect.getsourcefile(cls)}:{inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError):
        return f"{cls.__module__}:{cls.__qualname__}"


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """Frames and line numbers of an error and its causes, the innermost first."""
    seen: set[int] = set()
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        chain.append(one)
        one = one.__cause__
    for link in reversed(chain):
        yield from reversed(list(walk_tb(link.__traceback__)))


def _describe(error: Exception) -> str:
    """An error that arose while a module was imported, with its file and line."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: SyntaxError: {error.msg}"
    frame, line = next(_frames(error))
    return f"{frame.f_code.co_filename}:{line}: {type(error).__name__}: {error}"
