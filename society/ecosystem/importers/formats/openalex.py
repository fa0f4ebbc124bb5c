"""OpenAlex works: snapshot folders, answers of its API, JSON lines, or a single work."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from society.ecosystem.importers.authorship import Signature
from society.ecosystem.importers.fields import (
    count,
    flag,
    mapping,
    needed_id,
    needed_title,
    objects,
    text,
    texts,
    year,
)
from society.ecosystem.importers.files import Found
from society.ecosystem.importers.inverted import from_inverted
from society.ecosystem.importers.json_source import JsonSource
from society.ecosystem.importers.reading import PassedOver
from society.ecosystem.records import RawRecord

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
CONCEPT_SCORE = 0.3
"""Score from which a concept (in works of before 2023) counts as a keyword."""


class OpenAlex(JsonSource):
    """Works of OpenAlex; ids are shortened to ``W123`` and ``A123``.

    Paratext and retracted works are passed over. Parts of a snapshot are read from the newest
    ``updated_date`` back, so of a work that stands in several the newest is taken. Works that
    were merged into others may still be there: ``merged_ids`` is not read.
    """

    kind = "openalex"
    describes = "OpenAlex"
    always_unknown = (
        "yearly citation counts cover ten years at most",
        "works merged into others are not told apart: merged_ids is not read",
    )
    nothing_found = (
        "no works: parts of a snapshot (works/updated_date=.../part_000.gz), pages of the API, "
        "or JSON lines"
    )

    def wants(self, path: Path) -> bool:
        """Parts and JSON files that lie under no other entity's folder; no manifests."""
        if OTHER_ENTITIES & {part.lower() for part in path.parts[:-1]}:
            return False
        part = path.name.startswith("part_") and path.suffix in (".gz", "")
        return path.name != "manifest.json" and (part or super().wants(path))

    def _ordered(self, files: list[Found]) -> list[Found]:
        return sorted(files, key=_updated, reverse=True)

    def _rows(self, value: Any) -> list[Any]:
        if isinstance(value, dict) and isinstance(value.get("results"), list):
            return list(value["results"])
        return super()._rows(value)

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        id_ = _work_id(row)
        record = RawRecord(
            id=id_,
            title=needed_title(row.get("title") or row.get("display_name")),
            abstract=from_inverted(row.get("abstract_inverted_index"), "abstract_inverted_index"),
            year=year(row.get("publication_year")),
            authors=self.authorship.authors(_signed(row.get("authorships")), self.reading),
            references=texts(row.get("referenced_works"), "referenced_works", short_id),
            keywords=_keywords(row),
            venue=_venue(row),
            citations=count(row.get("cited_by_count"), "cited_by_count"),
            citations_by_year=_by_year(row.get("counts_by_year")),
        )
        if flag(row.get("is_retracted"), "is_retracted"):
            raise PassedOver("retracted")
        if flag(row.get("is_paratext"), "is_paratext") or row.get("type") == "paratext":
            raise PassedOver("paratext")
        return record


def short_id(value: Any, name: str) -> str:
    """``W123`` of ``https://openalex.org/W123``; null is empty, other ids stay as they are."""
    found = text(value, name)
    short = SHORT_ID.fullmatch(found)
    return short[1].upper() if short else found


def _updated(file: Found) -> str:
    """The partition a file lies in, which sorts by date; empty outside a snapshot."""
    return next((part for part in file.path.parts[::-1] if part.startswith("updated_date=")), "")


def _work_id(row: dict[str, Any]) -> str:
    found = short_id(needed_id(row.get("id")), "id")
    if found[:1] in "AICSPFTKD" and SHORT_ID.fullmatch(found):
        raise PassedOver("not a work")
    return found


def _signed(value: Any) -> Iterable[Signature]:
    for entry in objects(value, "authorships"):
        author = mapping(entry.get("author"), "author")
        written = text(entry.get("raw_author_name"), "raw_author_name")
        yield Signature(
            short_id(author.get("id"), "author id"),
            text(author.get("display_name"), "author display_name") or written,
            _affiliation(entry),
        )


def _affiliation(entry: dict[str, Any]) -> str:
    institutions = objects(entry.get("institutions"), "institutions")
    names = [text(one.get("display_name"), "institution display_name") for one in institutions]
    names += texts(entry.get("raw_affiliation_strings"), "raw_affiliation_strings")
    return next((name for name in names if name), "")


def _keywords(row: dict[str, Any]) -> tuple[str, ...]:
    concepts = [
        one
        for one in objects(row.get("concepts"), "concepts")
        if isinstance(score := one.get("score"), float | int) and score >= CONCEPT_SCORE
    ]
    return (
        texts(row.get("keywords"), "keywords", _named)
        or texts(row.get("topics"), "topics", _named)
        or texts(concepts, "concepts", _named)
    )


def _named(value: Any, name: str) -> str:
    if isinstance(value, str):
        return text(value, name)
    found = mapping(value, name)
    return text(found.get("display_name") or found.get("keyword"), f"{name} display_name")


def _venue(row: dict[str, Any]) -> str:
    location = mapping(row.get("primary_location"), "primary_location")
    hosts = (location.get("source"), row.get("host_venue"))
    names = (text(mapping(host, "venue").get("display_name"), "venue name") for host in hosts)
    return next((name for name in names if name), "")


def _by_year(value: Any) -> tuple[tuple[int, int], ...]:
    found: dict[int, int] = {}
    for entry in objects(value, "counts_by_year"):
        cited = count(entry.get("cited_by_count"), "counts_by_year cited_by_count")
        if cited is not None:
            found[year(entry.get("year"))] = cited
    return tuple(sorted(found.items()))
