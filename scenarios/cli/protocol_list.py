"""The list of protocols with their sources, as ``society list protocols`` prints it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import fill

from virsci_society.scenarios.config.json_schema import summary
from virsci_society.scenarios.config.registry import PROTOCOLS, import_class
from virsci_society.society.teams.contracts import TeamProtocol

WIDTH = 96


def protocol_lines(protocols: Mapping[str, str] = PROTOCOLS) -> Iterator[str]:
    """For each protocol its name and what it is, then where it was published.

    Args:
        protocols: import paths by name.
    """
    for name, path in protocols.items():
        cls = import_class(path)
        yield f"{name}: {summary(cls)}"
        if issubclass(cls, TeamProtocol) and cls.citation:
            yield fill(cls.citation, WIDTH, initial_indent="    ", subsequent_indent="    ")
