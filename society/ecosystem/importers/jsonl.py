"""Generic JSON lines: the way in for everything else.

Fields: ``id``, ``title``, ``abstract``, ``year``, ``authors`` (``id``, ``name``, ``org``),
``n_citation``, ``references``, ``venue``, ``keywords``; others are passed over, null is unknown.
"""

from __future__ import annotations

from typing import Any

from society.ecosystem.importers.authorship import Signature
from society.ecosystem.importers.fields import (
    count,
    identity,
    needed_id,
    needed_title,
    objects,
    text,
    texts,
    year,
)
from society.ecosystem.importers.json_source import JsonSource
from society.ecosystem.records import RawAuthor, RawRecord


class JsonLines(JsonSource):
    """Papers, one JSON object a line."""

    kind = "jsonl"
    describes = "JSON lines"

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        return RawRecord(
            id=needed_id(row.get("id")),
            title=needed_title(row.get("title")),
            abstract=text(row.get("abstract"), "abstract"),
            year=year(row.get("year")),
            authors=self._authors(row.get("authors")),
            references=texts(row.get("references"), "references", identity),
            keywords=texts(row.get("keywords"), "keywords"),
            venue=text(row.get("venue"), "venue"),
            citations=count(row.get("n_citation"), "n_citation"),
        )

    def _authors(self, value: Any) -> tuple[RawAuthor, ...]:
        signed = (
            Signature(
                identity(entry.get("id"), "author id"),
                text(entry.get("name"), "author name"),
                text(entry.get("org"), "author org"),
            )
            for entry in objects(value, "authors")
        )
        return self.authorship.authors(signed, self.reading)
