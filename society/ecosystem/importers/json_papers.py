"""The importers of JSON papers, from files of one's own, the Open Academic Graph and DBLP.

``JsonLines`` is the form into which any other data can be converted: ``id``, ``title``,
``abstract``, ``year``, ``authors`` (``id``, ``name``, ``org``, or a name alone), ``n_citation``,
``references``, ``venue``, ``keywords``; other fields are ignored, null is unknown.

Ten years of AMiner's releases write the same fields in different ways (text or object, number or
text, ``abstract`` or ``indexed_abstract``, ``keywords`` or ``fos``, authors with ids or names
alone), which ``AcademicJson`` reads as one form. Of the DBLP citation network, v10 is JSON lines
with authors by name, v12 one JSON list with authors by id.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any, ClassVar

from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers.fields import (
    first_text,
    parse_count,
    parse_id,
    parse_list,
    parse_mag_abstract,
    parse_object,
    parse_objects,
    parse_text,
    parse_texts,
    parse_year,
    require_id,
    require_title,
)
from virsci_society.society.ecosystem.importers.files import Position, SourceFile, read_lines
from virsci_society.society.ecosystem.importers.json_source import JsonSource, first_values
from virsci_society.society.ecosystem.importers.records import (
    AuthorEntry,
    RawRecord,
    SkippedRecord,
)
from virsci_society.society.ecosystem.importers.source import Columns, SourceEntry

NOT_PAPERS = ("patent", "dataset")
"""Values of ``doc_type`` whose records are skipped."""
PAPER_FIELDS = frozenset(("title", "authors", "year", "references", "abstract"))
AUTHOR_FIELDS = frozenset(("normalized_name", "last_known_aff_id", "pubs", "n_pubs", "tags"))
SIDES = ("mag_papers", "aminer_papers")


def _signature(entry: Any) -> AuthorEntry:
    if isinstance(entry, str):
        return AuthorEntry("", parse_text(entry, "author"))
    author = parse_object(entry, "author")
    return AuthorEntry(
        parse_id(author.get("id"), "author id"),
        parse_text(author.get("name"), "author name"),
        parse_text(author.get("org"), "author org"),
    )


def _signed(value: Any, name: str) -> list[AuthorEntry]:
    return [_signature(entry) for entry in parse_list(value, name)]


def _strictly_signed(value: Any, name: str) -> list[AuthorEntry]:
    """The same, but null is no author."""
    entries = parse_list(value, name)
    parse_objects([entry for entry in entries if not isinstance(entry, str)], name)
    return _signed(entries, name)


def _named(value: Any, name: str) -> str:
    if isinstance(value, dict):
        return parse_text(value.get("name"), f"{name} name")
    return parse_text(value, name)


def _venue(value: Any, name: str) -> str:
    if not isinstance(value, dict):
        return parse_text(value, name)
    return first_text(parse_text(value.get(key), f"{name} {key}") for key in ("name", "raw"))


class JsonLines(JsonSource):
    """Papers as JSON objects, one a line."""

    kind = "jsonl"
    source_name = "JSON lines"
    columns: ClassVar[Columns] = {
        "id": [("id", require_id)],
        "title": [("title", require_title)],
        "abstract": [("abstract", parse_text)],
        "year": [("year", parse_year)],
        "authors": [("authors", _strictly_signed)],
        "references": [("references", partial(parse_texts, read=parse_id))],
        "keywords": [("keywords", parse_texts)],
        "venue": [("venue", parse_text)],
        "citations": [("n_citation", parse_count)],
    }

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        return self._from_columns(row)


class AcademicJson(JsonLines):
    """The base class of sources in the JSON of AMiner's releases."""

    columns: ClassVar[Columns] = {
        **JsonLines.columns,
        "abstract": [("abstract", parse_text), ("indexed_abstract", parse_mag_abstract)],
        "authors": [("authors", _signed)],
        "keywords": [("keywords", parse_texts), ("fos", partial(parse_texts, read=_named))],
        "venue": [("venue", _venue)],
    }

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        record = super()._paper(row)
        kind = parse_text(row.get("doc_type"), "doc_type").casefold()
        if kind in NOT_PAPERS:
            raise SkippedRecord(f"doc_type {kind}")
        return record


class Dblp(AcademicJson):
    """The DBLP citation network: ``dblp-ref-*.json`` of v10, and ``dblp.v12.json`` line by line.

    Authors of v10 have names only, so people who share a name are one scientist.
    """

    kind = "dblp"
    source_name = "DBLP citation network (AMiner)"


class OpenAcademicGraph(AcademicJson):
    """The Open Academic Graph: 3.x, and the MAG or the AMiner side of 2.x.

    Publications are JSON lines; each file is recognised by its fields, not by its name. Files of
    authors, venues and affiliations may lie beside them: their lines are counted, and nothing of
    them is used, since they are not dated. A publication without an id is skipped.
    """

    kind = "oag"
    source_name = "Open Academic Graph"

    def _entries(self, start: Position) -> Generator[SourceEntry]:
        names = [file.path.name.lower() for file in self.files]
        if all(any(name.startswith(side) for name in names) for side in SIDES):
            raise InputError(
                f"{self._where}: holds mag_papers and aminer_papers, the same papers under "
                "different ids; give the files of one side"
            )
        return super()._entries(start)

    def _takes(self, file: SourceFile) -> bool:
        other = _other(file)
        if other:
            lines = sum(1 for line in read_lines(file) if line.data is None or line.data.strip())
            self.report.beside[f"{file.label}: {other}, not used"] = lines
        return not other

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        if row.get("id") in (None, ""):
            raise SkippedRecord("no id")
        return super()._paper(row)


def _other(file: SourceFile) -> str:
    """What a file holds, if its first lines show that they are no publications; else empty."""
    for value in first_values(file):
        if not isinstance(value, dict) or PAPER_FIELDS & value.keys():
            return ""
        if "name" in value:
            return "authors" if AUTHOR_FIELDS & value.keys() or "org" in value else "named things"
        if "DisplayName" in value:
            return "venues" if "JournalId" in value or "ConferenceId" in value else "affiliations"
    return ""
