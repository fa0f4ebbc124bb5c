"""Parts that installed packages add, by their entry points.

An installed package names its parts in the entry-point group ``virsci_society.KIND``, such as
``virsci_society.metrics``; a scenario then uses the entry point's name like one of ours. Whoever
installed the package has trusted it, so no ``--trust`` is needed. A name of ours is never taken by
another package.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import metadata

GROUP = "virsci_society."
"""What the names of our entry-point groups begin with; the kind follows."""


@dataclass(frozen=True, slots=True)
class InstalledPart:
    """A part that an installed package adds.

    Attributes:
        kind: what it is, such as ``protocols`` or ``metrics``.
        name: under which scenarios use it.
        path: ``module:Name``.
        package: name and version of the distribution.
    """

    kind: str
    name: str
    path: str
    package: str


@cache
def installed_parts() -> tuple[InstalledPart, ...]:
    """Every part that installed packages add, by kind and name; nothing of them is imported."""
    found = set()
    for package in metadata.distributions():
        for entry in package.entry_points:
            if entry.group.startswith(GROUP):
                kind, title = entry.group.removeprefix(GROUP), f"{package.name} {package.version}"
                found.add((kind, entry.name, entry.value, title))
    return tuple(InstalledPart(*one) for one in sorted(found))


def installed_of(kind: str) -> dict[str, str]:
    """Names and paths of the parts of a kind that installed packages add.

    Args:
        kind: such as ``protocols``.
    """
    # Of two packages that add the same name, the first by path.
    return {one.name: one.path for one in reversed(installed_parts()) if one.kind == kind}
