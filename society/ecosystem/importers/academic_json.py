"""The JSON paper records of the Open Academic Graph and the DBLP citation network.

Ten years of releases spell the same fields in different ways (text or object, number or text,
``abstract`` or ``indexed_abstract``, ``keywords`` or ``fos``, authors with ids or names alone);
they are read as one format here, and the importers differ in files and rules only.
"""

from __future__ import annotations

from typing import Any

from society.ecosystem.importers.authorship import Signature
from society.ecosystem.importers.fields import (
    count,
    identity,
    listed,
    mapping,
    needed_id,
    needed_title,
    text,
    texts,
    year,
)
from society.ecosystem.importers.inverted import from_indexed
from society.ecosystem.importers.json_source import JsonSource
from society.ecosystem.importers.reading import PassedOver
from society.ecosystem.records import RawRecord

NOT_PAPERS = ("patent", "dataset")
"""Values of ``doc_type`` whose records are passed over."""


class AcademicJson(JsonSource):
    """Papers in the JSON of AMiner's releases."""

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        id_ = needed_id(row.get("id"))
        title = needed_title(row.get("title"))
        kind = text(row.get("doc_type"), "doc_type").casefold()
        record = RawRecord(
            id=id_,
            title=title,
            abstract=_abstract(row),
            year=year(row.get("year")),
            authors=self.authorship.authors(_signed(row.get("authors")), self.reading),
            references=texts(row.get("references"), "references", identity),
            keywords=_keywords(row),
            venue=_venue(row.get("venue")),
            citations=count(row.get("n_citation"), "n_citation"),
        )
        if kind in NOT_PAPERS:
            raise PassedOver(f"doc_type {kind}")
        return record


def _abstract(row: dict[str, Any]) -> str:
    return text(row.get("abstract"), "abstract") or from_indexed(
        row.get("indexed_abstract"), "indexed_abstract"
    )


def _keywords(row: dict[str, Any]) -> tuple[str, ...]:
    return texts(row.get("keywords"), "keywords") or texts(row.get("fos"), "fos", _named)


def _named(value: Any, name: str) -> str:
    if isinstance(value, dict):
        return text(value.get("name"), f"{name} name")
    return text(value, name)


def _venue(value: Any) -> str:
    if not isinstance(value, dict):
        return text(value, "venue")
    names = (text(value.get(key), f"venue {key}") for key in ("name", "raw"))
    return next((name for name in names if name), "")


def _signed(value: Any) -> list[Signature]:
    return [_signature(entry) for entry in listed(value, "authors")]


def _signature(entry: Any) -> Signature:
    if isinstance(entry, str):
        return Signature("", text(entry, "author"))
    found = mapping(entry, "author")
    return Signature(
        identity(found.get("id"), "author id"),
        text(found.get("name"), "author name"),
        text(found.get("org"), "author org"),
    )
