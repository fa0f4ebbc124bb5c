"""The table of importers by name, and opening a source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.society.ecosystem.importers.formats.academic_json import Dblp
from virsci_society.society.ecosystem.importers.formats.aminer import AMiner
from virsci_society.society.ecosystem.importers.formats.jsonl import JsonLines
from virsci_society.society.ecosystem.importers.formats.oag import OpenAcademicGraph
from virsci_society.society.ecosystem.importers.formats.openalex import OpenAlex
from virsci_society.society.ecosystem.importers.formats.virsci import VirSciFiles
from virsci_society.society.ecosystem.importers.source import Source

IMPORTERS: dict[str, type[Source]] = {
    "jsonl": JsonLines,
    "aminer": AMiner,
    "oag": OpenAcademicGraph,
    "openalex": OpenAlex,
    "virsci": VirSciFiles,
    "dblp": Dblp,
}
"""Every importer by the name that a user gives."""


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
    if isinstance(kind, type):
        return kind(paths, **options)
    if kind not in IMPORTERS:
        near = did_you_mean(kind, IMPORTERS)
        raise InputError(f"{kind!r} is no source; choose one of {', '.join(IMPORTERS)}{near}")
    return IMPORTERS[kind](paths, **options)
