"""The table of importers by name, and opening a source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.importers.source import Source

_HERE = "virsci_society.society.ecosystem.importers"
IMPORTERS: dict[str, str] = {
    "jsonl": f"{_HERE}.json_papers:JsonLines",
    "aminer": f"{_HERE}.aminer:AMiner",
    "oag": f"{_HERE}.json_papers:OpenAcademicGraph",
    "openalex": f"{_HERE}.openalex:OpenAlex",
    "virsci": f"{_HERE}.virsci:VirSciFiles",
    "dblp": f"{_HERE}.json_papers:Dblp",
}
"""The class of every importer by the name that a user gives."""


def open_source(
    kind: str | type[Source], paths: Path | str | Sequence[Path | str], **options: Any
) -> Source:
    """Open a source at one path or several; nothing is read yet.

    Args:
        kind: a name of ``IMPORTERS``, or the class of an importer from outside.
        paths: files, or folders in which the source finds its files.
        options: ``malformed_share``, ``progress``, ``authors``, ``nameless`` of ``Source``.

    Raises:
        InputError: the kind is not in the table.
    """
    if isinstance(kind, str) and kind not in IMPORTERS:
        near = did_you_mean(kind, IMPORTERS)
        raise InputError(f"{kind!r} is no source; choose one of {', '.join(IMPORTERS)}{near}")
    make: type[Source] = resolve_name(IMPORTERS[kind]) if isinstance(kind, str) else kind
    return make(paths, **options)
