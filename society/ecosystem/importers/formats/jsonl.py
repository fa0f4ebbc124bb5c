"""The importer of generic JSON lines, into which any other data can be converted.

Fields: ``id``, ``title``, ``abstract``, ``year``, ``authors`` (``id``, ``name``, ``org``, or a name
alone), ``n_citation``, ``references``, ``venue``, ``keywords``; others are ignored, null is
unknown.
"""

from __future__ import annotations

from typing import Any

from virsci_society.society.ecosystem.building.raw_records import RawAuthor, RawRecord
from virsci_society.society.ecosystem.importers.authors import AuthorEntry
from virsci_society.society.ecosystem.importers.fields import (
    parse_count,
    parse_id,
    parse_objects,
    parse_text,
    parse_texts,
    parse_year,
    require_id,
    require_title,
)
from virsci_society.society.ecosystem.importers.json_source import JsonSource


class JsonLines(JsonSource):
    """Papers as JSON objects, one a line."""

    kind = "jsonl"
    source_name = "JSON lines"

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        return RawRecord(
            id=require_id(row.get("id")),
            title=require_title(row.get("title")),
            abstract=parse_text(row.get("abstract"), "abstract"),
            year=parse_year(row.get("year")),
            authors=self._authors(row.get("authors")),
            references=parse_texts(row.get("references"), "references", parse_id),
            keywords=parse_texts(row.get("keywords"), "keywords"),
            venue=parse_text(row.get("venue"), "venue"),
            citations=parse_count(row.get("n_citation"), "n_citation"),
        )

    def _authors(self, value: Any) -> tuple[RawAuthor, ...]:
        signed = (
            AuthorEntry(
                parse_id(entry.get("id"), "author id"),
                parse_text(entry.get("name"), "author name"),
                parse_text(entry.get("org"), "author org"),
            )
            for entry in parse_objects(_entries(value), "authors")
        )
        return self.author_rule.authors(signed, self.report)


def _entries(value: Any) -> Any:
    """A list of authors in which every name alone has become an entry."""
    if not isinstance(value, list):
        return value
    return [{"name": one} if isinstance(one, str) else one for one in value]
