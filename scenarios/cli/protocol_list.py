"""The list of protocols with their sources, as ``society list protocols`` prints it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from textwrap import fill

from virsci_society.scenarios.config.key_reference.field_docs import summary
from virsci_society.scenarios.config.registry import PROTOCOLS, import_class

WIDTH = 96
_SOURCE = re.compile(r"^Source: (.+?)(?= ``docs/|$)", re.MULTILINE)


def protocol_lines(protocols: Mapping[str, str] = PROTOCOLS) -> Iterator[str]:
    """For each protocol its name and what it is, then the source that its module states.

    Args:
        protocols: import paths by name.
    """
    for name, path in protocols.items():
        cls = import_class(path)
        yield f"{name}: {summary(cls)}"
        source = source_of(sys.modules[cls.__module__].__doc__ or "")
        if source:
            yield fill(source, WIDTH, initial_indent="    ", subsequent_indent="    ")


def source_of(docstring: str) -> str:
    """The source that a docstring states in a paragraph of its own; empty without one."""
    paragraphs = (" ".join(one.split()) for one in docstring.split("\n\n"))
    stated = _SOURCE.search("\n".join(paragraphs))
    return stated[1] if stated is not None else ""
