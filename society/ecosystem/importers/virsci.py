"""VirSci's preprocessed files: one paper a file, written as a Python dict."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

from society.ecosystem.importers.authorship import Signature
from society.ecosystem.importers.fields import (
    count,
    identity,
    listed,
    needed_id,
    needed_title,
    text,
    texts,
    year,
)
from society.ecosystem.importers.files import Found, Position, is_data, opened, read_lines
from society.ecosystem.importers.literal import LONGEST_LITERAL, parse_literal
from society.ecosystem.importers.source import Entry, Source
from society.ecosystem.records import RawRecord

MATRICES = ("adjacency.txt", "weight_matrix.txt")
PROFILE = re.compile(r"author_\d+\.txt")
PROFILES = "profiles, not used"
NO_VALUE = ("-", "None", "")


class VirSci(Source):
    """A folder of paper files; what the paper's authors derived from them is not used.

    Profiles (``author_0.txt`` ...) and matrices (``adjacency.txt``, ``weight_matrix.txt``) are
    counted and left alone: they are over years that cannot be checked, and the build makes its
    own from the papers before the boundary. Their search index is not opened: its rows follow
    an unsorted listing of a folder, so they cannot be told apart.
    """

    kind = "virsci"
    describes = "VirSci's preprocessed files"
    nothing_found = "no paper files: one Python dict in each .txt"

    def wants(self, path: Path) -> bool:
        """Every ``.txt``."""
        return is_data(path, ".txt")

    def _entries(self, start: Position) -> Generator[Entry]:
        self.reading.beside = _beside(self.files)
        for number, file in enumerate(self.files):
            if number >= start.file and not _is_derived(file):
                yield Entry(file, 1, Position(number + 1), _content(file))

    def _record(self, content: Any) -> RawRecord:
        found = parse_literal(content)
        if not isinstance(found, dict):
            raise ValueError("not a dict")
        row = {name: _unwrapped(value) for name, value in found.items()}
        return RawRecord(
            id=needed_id(row.get("id")),
            title=needed_title(row.get("title")),
            abstract=text(row.get("abstract"), "abstract"),
            year=year(row.get("year")),
            authors=self.authorship.authors(_signed(row), self.reading),
            references=texts(_parts(row.get("paper_references")), "paper_references", identity),
            venue=text(row.get("publication_venue"), "publication_venue"),
            keywords=texts(_parts(row.get("keywords")), "keywords"),
            citations=count(row.get("citation"), "citation"),
        )


def _is_derived(file: Found) -> bool:
    return file.path.name in MATRICES or bool(PROFILE.fullmatch(file.path.name))


def _beside(files: Iterable[Found]) -> dict[str, int]:
    found: dict[str, int] = {}
    for file in files:
        if file.path.name in MATRICES:
            found[f"{file.label}: rows, not used"] = sum(1 for _ in read_lines(file))
        elif _is_derived(file):
            found[PROFILES] = found.get(PROFILES, 0) + 1
    return found


def _content(file: Found) -> bytes:
    with opened(file.path) as stream:
        return stream.read(LONGEST_LITERAL + 1)


def _unwrapped(value: Any) -> Any:
    """The value of a tuple of one: a comma was left behind an assignment."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def _parts(value: Any) -> Any:
    """A list, which may be written as text with semicolons."""
    if isinstance(value, str):
        return [part for part in value.split(";") if part.strip() not in NO_VALUE]
    if isinstance(value, list | tuple):
        return [_unwrapped(part) for part in value]
    return value


def _signed(row: dict[Any, Any]) -> list[Signature]:
    names = [text(name, "author") for name in listed(_parts(row.get("authors")), "authors")]
    places = row.get("affiliations")
    places = places.split(";") if isinstance(places, str) else _parts(places)
    written = [text(place, "affiliation") for place in listed(places, "affiliations")]
    # Unless there is one for each author, nobody can say whose they are.
    aligned = written if len(written) == len(names) else [""] * len(names)
    known = ("" if place in NO_VALUE else place for place in aligned)
    return [Signature("", name, place) for name, place in zip(names, known, strict=True)]
