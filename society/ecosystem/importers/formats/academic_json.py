"""The JSON paper records of the Open Academic Graph and of the DBLP citation network (AMiner).

Ten years of releases write the same fields in different ways (text or object, number or text,
``abstract`` or ``indexed_abstract``, ``keywords`` or ``fos``, authors with ids or names alone).
They are read as one format here; the importers differ in files and rules only. Of the DBLP citation
network, v10 is JSON lines with authors by name, v12 one JSON list with authors by id.
"""

from __future__ import annotations

from typing import Any

from virsci_society.society.ecosystem.building.raw_records import RawRecord
from virsci_society.society.ecosystem.importers.authors import AuthorEntry
from virsci_society.society.ecosystem.importers.fields import (
    parse_count,
    parse_id,
    parse_list,
    parse_mag_abstract,
    parse_object,
    parse_text,
    parse_texts,
    parse_year,
    require_id,
    require_title,
)
from virsci_society.society.ecosystem.importers.json_source import JsonSource
from virsci_society.society.ecosystem.importers.report import SkippedRecord

NOT_PAPERS = ("patent", "dataset")
"""Values of ``doc_type`` whose records are skipped."""


class AcademicJson(JsonSource):
    """The base class of sources in the JSON of AMiner's releases."""

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        id_ = require_id(row.get("id"))
        title = require_title(row.get("title"))
        kind = parse_text(row.get("doc_type"), "doc_type").casefold()
        record = RawRecord(
            id=id_,
            title=title,
            abstract=_abstract(row),
            year=parse_year(row.get("year")),
            authors=self.author_rule.authors(_signed(row.get("authors")), self.report),
            references=parse_texts(row.get("references"), "references", parse_id),
            keywords=_keywords(row),
            venue=_venue(row.get("venue")),
            citations=parse_count(row.get("n_citation"), "n_citation"),
        )
        if kind in NOT_PAPERS:
            raise SkippedRecord(f"doc_type {kind}")
        return record


def _abstract(row: dict[str, Any]) -> str:
    return parse_text(row.get("abstract"), "abstract") or parse_mag_abstract(
        row.get("indexed_abstract"), "indexed_abstract"
    )


def _keywords(row: dict[str, Any]) -> tuple[str, ...]:
    return parse_texts(row.get("keywords"), "keywords") or parse_texts(
        row.get("fos"), "fos", _named
    )


def _named(value: Any, name: str) -> str:
    if isinstance(value, dict):
        return parse_text(value.get("name"), f"{name} name")
    return parse_text(value, name)


def _venue(value: Any) -> str:
    if not isinstance(value, dict):
        return parse_text(value, "venue")
    names = (parse_text(value.get(key), f"venue {key}") for key in ("name", "raw"))
    return next((name for name in names if name), "")


def _signed(value: Any) -> list[AuthorEntry]:
    return [_signature(entry) for entry in parse_list(value, "authors")]


def _signature(entry: Any) -> AuthorEntry:
    if isinstance(entry, str):
        return AuthorEntry("", parse_text(entry, "author"))
    author = parse_object(entry, "author")
    return AuthorEntry(
        parse_id(author.get("id"), "author id"),
        parse_text(author.get("name"), "author name"),
        parse_text(author.get("org"), "author org"),
    )


class Dblp(AcademicJson):
    """The DBLP citation network: ``dblp-ref-*.json`` of v10, and ``dblp.v12.json`` line by line.

    Authors of v10 have names only, so people who share a name are one scientist.
    """

    kind = "dblp"
    source_name = "DBLP citation network (AMiner)"
