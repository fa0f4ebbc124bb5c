"""The importer of CSV files, from a table of one's own or an export of Scopus or Web of Science."""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TextIO

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.society.ecosystem.importers import fields
from virsci_society.society.ecosystem.importers.files import (
    LONGEST,
    NOT_UTF_8,
    SourceFile,
    open_text,
    other_layout,
)
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord
from virsci_society.society.ecosystem.importers.source import Columns, Source, SourceEntry

EXPORTS = ("scopus", "wos")
"""Databases whose exports are recognised by their columns."""
USUAL: dict[str, tuple[str, ...]] = {
    "id": (
        "eid",
        "ut (unique wos id)",
        "ut",
        "id",
        "publication id",
        "key",
        "lens id",
        "doi",
        "di",
        "paper_id",
    ),
    "title": ("article title", "title", "ti", "document title", "display_name"),
    "abstract": ("abstract", "ab", "abstract note", "summary"),
    "year": ("publication year", "publication_year", "year", "py", "pubyear", "published", "date"),
    "authors": (
        *("author full names", "af", "authors", "author", "au", "author/s", "author names"),
        "authorships.author.display_name",
    ),
    "author_ids": ("author(s) id", "author ids", "author_ids", "authorships.author.id"),
    "affiliations": ("affiliations of authors",),
    # A column of references mostly holds written ones, which are no ids.
    "references": ("reference_ids",),
    "keywords": ("author keywords", "de", "keywords"),
    "venue": ("source title", "so", "journal", "venue", "publication title", "conference"),
    "citations": (
        *("cited by", "times cited, all databases", "z9", "times cited", "n_citation"),
        *("citing works count", "cited_by_count", "citation_count", "citations"),
    ),
}
"""Every field, with usual names of its column in lower case, the best first."""
SEPARATORS = {"semicolon": ";", "comma": ",", "pipe": "|", "and": " and "}
PAIR = re.compile(r'\s*(\w+)\s*=\s*("[^"]*"|[^,]*)\s*(?:,|$)')
WITH_ID = re.compile(r"(.*\S)\s*\((\d{5,})\)")


def parse_columns(text: str) -> dict[str, str]:
    """Parse ``title=Title,authors="Author names"``, or a database."""
    if text in ("", *EXPORTS):
        return {}
    pairs = {found[1]: found[2].strip('"') for found in PAIR.finditer(text)}
    known = (*USUAL, "separator")
    wrong = [name for name in pairs if name not in known]
    if wrong or not pairs or PAIR.sub("", text).strip():
        near = did_you_mean(wrong[0], known) if wrong else ""
        raise InputError(
            f"--columns {text!r}: expected {', '.join(EXPORTS)}, or pairs such as "
            f"title=Title,year=Year with {', '.join(known)}{near}"
        )
    if pairs.get("separator", "comma") not in SEPARATORS:
        raise InputError(f"--columns: separator is one of {', '.join(SEPARATORS)}")
    return pairs


class CsvPapers(Source):
    """Papers as rows of a table with a header, separated by commas, semicolons or tabs.

    Columns that are not named are found by their usual names. People are separated by semicolons,
    or by what ``separator`` names. A paper without an id is known by its file and line.

    Args:
        columns: the columns, as ``parse_columns`` reads them.
    """

    kind = "csv"
    endings = (".csv", ".tsv")
    nothing_found = "no CSV: files ending in .csv or .tsv, plain or packed, with a header"
    columns: ClassVar[Columns] = {
        "id": [("id", fields.require_id)],
        "title": [("title", fields.require_title)],
        "abstract": [("abstract", fields.parse_text)],
        "year": [("year", fields.parse_year)],
        "references": [("references", partial(fields.parse_texts, read=fields.parse_id))],
        "keywords": [("keywords", fields.parse_texts)],
        "venue": [("venue", fields.parse_text)],
        "citations": [("citations", fields.parse_count)],
        "authors": [("authors", lambda value, _: value)],
    }

    def __init__(
        self, paths: Path | str | Sequence[Path | str], *, columns: str = "", **options: Any
    ) -> None:
        super().__init__(paths, **options)
        self._given = parse_columns(columns)
        self._separator = SEPARATORS[self._given.pop("separator", "semicolon")]
        self._unsplit, self._split = 0, 0

    def _entries(self) -> Generator[SourceEntry]:
        self._unsplit = self._split = 0
        for file in self.files:
            with open_text(file.path) as stream:
                yield from self._rows(file, stream)
        if self._unsplit > self._split:
            raise InputError(
                f"{self._where}: authors are not separated by {self._separator!r}; name what "
                f"separates them: --columns separator={' or '.join(SEPARATORS)}"
            )

    def _rows(self, file: SourceFile, stream: TextIO) -> Generator[SourceEntry]:
        csv.field_size_limit(LONGEST)
        first = stream.readline(LONGEST)
        # Excel names the separator before the header, and Dimensions tells of the export.
        if re.fullmatch(r"(?i)sep=.\s*", first) or re.fullmatch(r'"[^"]*",{2,}\s*', first):
            first = stream.readline(LONGEST)
        if what := other_layout(first, self.kind):
            raise InputError(f"{file.path}: {what}")
        if not first.strip():
            return
        delimiter = max(",;\t|", key=first.count)
        header = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
        places = self._places(header, file)
        rows = csv.reader(iter(partial(stream.readline, LONGEST), ""), delimiter=delimiter)
        try:
            for row in filter(any, rows):
                line = rows.line_num + 1
                if len(row) < len(header) or any(row[len(header) :]):
                    fault = f"{len(row)} fields, and {len(header)} columns in the header"
                    if "Funding Text 1" in header:
                        fault += "; export it from Scopus again, without funding details"
                    yield SourceEntry(file, line, ValueError(fault))
                    continue
                cells = {name: row[place] for name, place in places.items()}
                if any(NOT_UTF_8.search(cell) for cell in cells.values()):
                    raise InputError(
                        f"{file.path}: is not UTF-8; save it as 'CSV UTF-8', or convert it: "
                        f"iconv -f WINDOWS-1252 -t UTF-8 {file.path.name}"
                    )
                cells["id"] = cells.get("id", "").strip() or f"{file.label}:{line}"
                yield SourceEntry(file, line, cells)
        except csv.Error as error:
            raise InputError(f"{file.path}: is not readable as CSV ({error})") from error

    def _places(self, header: list[str], file: SourceFile) -> dict[str, int]:
        """The place of the column of every field that has one."""
        lower = {name.casefold(): place for place, name in reversed([*enumerate(header)])}
        places = {}
        for name, usual in USUAL.items():
            found = (one for one in usual if one in lower)
            column = self._given.get(name, "").casefold() or next(found, "")
            if column and column not in lower:
                near = did_you_mean(self._given[name], header)
                raise InputError(
                    f"{file.path}: has no column {self._given[name]!r}{near}; it has "
                    f"{', '.join(header)}"
                )
            if column:
                places[name] = lower[column]
        if missing := {"title", "year"} - places.keys():
            raise InputError(
                f"{file.path}: no column for {' and '.join(sorted(missing))}; it has "
                f"{', '.join(header)}; name them: --columns title=COLUMN,year=COLUMN"
            )
        return places

    def _record(self, content: Any) -> RawRecord:
        return self._from_columns(content | {"authors": self._people(content)})

    def _people(self, cells: Mapping[str, str]) -> tuple[RawAuthor, ...]:
        written = cells.get("authors", "")
        separator, given = self._separator, cells.get("author_ids", "")
        if separator not in written and "|" in written:
            separator = "|"  # as OpenAlex exports lists
        ids = fields.parse_parts(given, separator if separator in given else ";")
        if separator not in written and len(ids) == written.count(",") + 1 > 1:
            separator = ","
        names = fields.parse_parts(written, separator)
        places = fields.of_each(fields.parse_parts(cells.get("affiliations", "")), names)
        self._split += len(names) > 1
        self._unsplit += len(names) == 1 and (written.count(",") > 1 or " and " in written)
        people = []
        for name, id_, place in zip(names, fields.of_each(ids, names), places, strict=True):
            found = WITH_ID.fullmatch(name)
            name, id_ = (found[1], found[2]) if found else (name, id_)
            people.append(RawAuthor(id_, fields.parse_text(name, "author"), place))
        return tuple(people)
