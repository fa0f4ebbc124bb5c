"""The importer of VirSci's preprocessed files: one paper a file, written as a Python dict."""

from __future__ import annotations

import re
from collections.abc import Generator
from functools import partial
from typing import Any, ClassVar

from virsci_society.society.ecosystem.importers import fields
from virsci_society.society.ecosystem.importers.files import open_text
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord
from virsci_society.society.ecosystem.importers.source import Columns, Source, SourceEntry

DERIVED = re.compile(r"adjacency\.txt|weight_matrix\.txt|author_\d+\.txt")


def _signed(row: dict[Any, Any], _: str) -> tuple[RawAuthor, ...]:
    names = fields.parse_names(row.get("authors"), "authors")
    places = row.get("affiliations")
    # Empty parts keep their place, by which they belong to an author.
    places = places.split(";") if isinstance(places, str) else places
    places = fields.of_each(fields.parse_list(places, "affiliations"), names)
    return tuple(
        RawAuthor("", fields.parse_text(name, "author"), fields.parse_text(place, "affiliation"))
        for name, place in zip(names, places, strict=True)
    )


class VirSciFiles(Source):
    """A folder of paper files; data that VirSci derived from them are not used.

    Profiles (``author_0.txt`` ...) and matrices (``adjacency.txt``, ``weight_matrix.txt``) are
    named and ignored: they are over years that cannot be checked, and the build makes its own
    from the papers before the boundary. Their search index is not opened: its rows follow an
    unsorted listing of a folder, so they cannot be matched to papers.
    """

    kind = "virsci"
    one_a_file = True
    endings = (".txt",)
    nothing_found = "no paper files: one Python dict in each .txt"
    columns: ClassVar[Columns] = {
        "id": [("id", fields.require_id)],
        "title": [("title", fields.require_title)],
        "abstract": [("abstract", fields.parse_text)],
        "year": [("year", fields.parse_year)],
        "authors": [("", _signed)],
        "references": [("paper_references", partial(fields.parse_texts, read=fields.parse_id))],
        "venue": [("publication_venue", fields.parse_text)],
        "keywords": [("keywords", fields.parse_texts)],
        "citations": [("citation", fields.parse_count)],
    }

    def _entries(self) -> Generator[SourceEntry]:
        for file in self.files:
            if DERIVED.fullmatch(file.path.name):
                self.report.unused.append(f"{file.label}: derived")
            else:
                with open_text(file.path) as stream:
                    # A character more than is parsed, which shows that a file is too long.
                    content = stream.read(fields.LONGEST_LITERAL + 1)
                yield SourceEntry(file, 1, content)

    def _record(self, content: Any) -> RawRecord:
        literal = fields.parse_literal(content)
        if not isinstance(literal, dict):
            raise ValueError("not a dict")
        return self._from_columns(literal)
