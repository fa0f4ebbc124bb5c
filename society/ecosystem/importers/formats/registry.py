"""Every importer by name, and how to open one."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from agents.errors import InputError
from society.ecosystem.importers.aminer import AMiner
from society.ecosystem.importers.dblp import Dblp
from society.ecosystem.importers.jsonl import JsonLines
from society.ecosystem.importers.oag import OpenAcademicGraph
from society.ecosystem.importers.openalex import OpenAlex
from society.ecosystem.importers.source import Source
from society.ecosystem.importers.virsci import VirSci

IMPORTERS: dict[str, type[Source]] = {
    "jsonl": JsonLines,
    "aminer": AMiner,
    "oag": OpenAcademicGraph,
    "openalex": OpenAlex,
    "virsci": VirSci,
    "dblp": Dblp,
}


def open_source(kind: str, paths: Path | str | Sequence[Path | str], **options: Any) -> Source:
    """The source of a kind at one path or several; nothing is read yet.

    Args:
        kind: a name of ``IMPORTERS``.
        paths: files, or folders in which the source finds its files.
        options: ``malformed_share``, ``progress``, ``authors``, ``nameless`` of ``Source``.

    Raises InputError for a kind that is not in the table.
    """
    if kind not in IMPORTERS:
        near = get_close_matches(kind, IMPORTERS, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise InputError(f"{kind!r} is no source; choose one of {', '.join(IMPORTERS)}{meant}")
    return IMPORTERS[kind](paths, **options)
