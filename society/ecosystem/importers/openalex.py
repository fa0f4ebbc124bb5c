"""The importer of OpenAlex works from snapshots, API answers, JSON lines or single works."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from virsci_society.society.ecosystem.importers import fields
from virsci_society.society.ecosystem.importers.files import SourceFile
from virsci_society.society.ecosystem.importers.json_papers import JsonSource
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord, SkippedRecord
from virsci_society.society.ecosystem.importers.source import Columns

OTHER_ENTITIES = frozenset(
    (
        *("authors", "awards", "concepts", "continents", "countries", "domains", "fields"),
        *("funders", "institution-types", "institutions", "keywords", "languages", "licenses"),
        *("merged_ids", "parquet", "publishers", "sdgs", "source-types", "sources"),
        *("subfields", "topics", "work-types"),
    )
)
"""Folders of a snapshot that hold no works."""
SHORT_ID = re.compile(r"(?:https?://openalex\.org/)?(?:works/|authors/)?([A-Z]\d{1,20})", re.I)
MOST_LISTED = 100
"""Authors at which the API cuts off the list of a work."""
CONCEPT_SCORE = 0.3
"""Least score of a concept (in works of before 2023) that counts as a keyword."""


def short_id(value: Any, name: str) -> str:
    """Shorten ``https://openalex.org/W123`` to ``W123``; null is empty, other ids are kept."""
    id_ = fields.parse_text(value, name)
    short = SHORT_ID.fullmatch(id_)
    return short[1].upper() if short else id_


def _updated(file: SourceFile) -> str:
    """The partition of a file, which sorts by date; empty outside a snapshot."""
    return next((part for part in file.path.parts[::-1] if part.startswith("updated_date=")), "")


def _work_id(value: Any, name: str) -> str:
    id_ = short_id(fields.require_id(value), name)
    # The first letter of an id names the kind of thing; works have W.
    if id_[:1] in "AICSPFTKD" and SHORT_ID.fullmatch(id_):
        raise SkippedRecord("not a work")
    return id_


def _title(row: dict[str, Any], _: str) -> str:
    return fields.require_title(row.get("title") or row.get("display_name"))


def _signed(row: dict[str, Any], _: str) -> tuple[RawAuthor, ...]:
    signed = fields.parse_objects(row.get("authorships"), "authorships")
    cut = fields.parse_flag(row.get("is_authors_truncated", len(signed) == MOST_LISTED), "flag")
    more = (RawAuthor("", "et al."),) if cut else ()
    return (*(_signature(entry) for entry in signed), *more)


def _signature(entry: dict[str, Any]) -> RawAuthor:
    author = fields.parse_object(entry.get("author"), "author")
    written = fields.parse_text(entry.get("raw_author_name"), "raw_author_name")
    places = [
        fields.parse_text(one.get("display_name"), "institution display_name")
        for one in fields.parse_objects(entry.get("institutions"), "institutions")
    ]
    places += fields.parse_texts(entry.get("raw_affiliation_strings"), "raw_affiliation_strings")
    return RawAuthor(
        short_id(author.get("id"), "author id"),
        fields.parse_text(author.get("display_name"), "author display_name") or written,
        fields.first_text(places),
    )


def _keywords(row: dict[str, Any], _: str) -> tuple[str, ...]:
    concepts = [
        one
        for one in fields.parse_objects(row.get("concepts"), "concepts")
        if isinstance(score := one.get("score"), float | int) and score >= CONCEPT_SCORE
    ]
    return (
        fields.parse_texts(row.get("keywords"), "keywords", _named)
        or fields.parse_texts(row.get("topics"), "topics", _named)
        or fields.parse_texts(concepts, "concepts", _named)
    )


def _named(value: Any, name: str) -> str:
    if isinstance(value, str):
        return fields.parse_text(value, name)
    entry = fields.parse_object(value, name)
    return fields.parse_text(
        entry.get("display_name") or entry.get("keyword"), f"{name} display_name"
    )


def _venue(row: dict[str, Any], _: str) -> str:
    location = fields.parse_object(row.get("primary_location"), "primary_location")
    hosts = (location.get("source"), row.get("host_venue"))
    names = (
        fields.parse_text(fields.parse_object(host, "venue").get("display_name"), "venue name")
        for host in hosts
    )
    return fields.first_text(names)


def _by_year(value: Any, name: str) -> tuple[tuple[int, int], ...]:
    counts: dict[int, int] = {}
    for entry in fields.parse_objects(value, name):
        cited = fields.parse_count(entry.get("cited_by_count"), f"{name} cited_by_count")
        if cited is not None:
            counts[fields.parse_year(entry.get("year"))] = cited
    return tuple(sorted(counts.items()))


class OpenAlex(JsonSource):
    """Works of OpenAlex; ids are shortened to ``W123`` and ``A123``.

    Paratext and retracted works are skipped. Parts of a snapshot are read from the newest
    ``updated_date`` back, so of a work that occurs in several the newest is taken. Works that were
    merged into others may still be there: ``merged_ids`` is not read.
    """

    kind = "openalex"
    never_known = (
        "yearly citation counts cover ten years at most",
        "works merged into others are not told apart: merged_ids is not read",
    )
    nothing_found = (
        "no works: parts of a snapshot (works/updated_date=.../part_000.gz), pages of the API, "
        "or JSON lines"
    )
    columns: ClassVar[Columns] = {
        "id": [("id", _work_id)],
        "title": [("", _title)],
        "abstract": [("abstract_inverted_index", fields.parse_inverted_index)],
        "year": [("publication_year", fields.parse_year)],
        "authors": [("", _signed)],
        "references": [("referenced_works", partial(fields.parse_texts, read=short_id))],
        "keywords": [("", _keywords)],
        "venue": [("", _venue)],
        "citations": [("cited_by_count", fields.parse_count)],
        "citations_by_year": [("counts_by_year", _by_year)],
    }

    def wants(self, path: Path) -> bool:
        """Whether a file is a part or JSON file outside of other entities' folders."""
        if OTHER_ENTITIES & {part.lower() for part in path.parts[:-1]}:
            return False
        part = path.name.startswith("part_") and path.suffix in (".gz", "")
        return path.name != "manifest.json" and (part or super().wants(path))

    def _ordered(self, files: list[SourceFile]) -> list[SourceFile]:
        return sorted(files, key=_updated, reverse=True)

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        record = self._from_columns(row)
        if fields.parse_flag(row.get("is_retracted"), "is_retracted"):
            raise SkippedRecord("retracted")
        if (
            fields.parse_flag(row.get("is_paratext"), "is_paratext")
            or row.get("type") == "paratext"
        ):
            raise SkippedRecord("paratext")
        return record
