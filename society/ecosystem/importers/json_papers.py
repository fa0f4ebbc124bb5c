"""The importers of JSON papers (one's own, Open Academic Graph, DBLP, OpenAlex) and VirSci's."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers import fields
from virsci_society.society.ecosystem.importers.files import (
    LONGEST,
    NOT_UTF_8,
    SourceFile,
    open_text,
    other_layout,
)
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord, SkippedRecord
from virsci_society.society.ecosystem.importers.source import Columns, Source, SourceEntry

SNIFFED = 20
"""Values by which the content of a file is recognised."""
CHUNK = 2**16
"""Characters that are read at a time."""
MARGIN = 64
"""Characters at the end of a chunk in which a token may be cut."""
SEPARATORS = re.compile(r"[\s,\x1e]*")
SHELL_TYPE = re.compile(r'\b(?:Number(?:Int|Long|Decimal)|ObjectId|ISODate)\(("?[\w.:+-]*"?)\)')
"""Values as MongoDB's shell writes them, such as ``NumberInt(5)`` of DBLP v13."""
WRAPPERS = ("results", "data", "papers", "works", "items", "docs")
"""Fields with the list of papers in an API response."""
ENVELOPES = ("message", "response")
"""Fields of Crossref and Solr that contain the object with this list."""
ERRORS = frozenset(("error", "errors", "message", "detail", "exception"))
MOST_IN_ANSWERS = 6
"""Most fields of an API response with a list of papers, or with an error."""


def read_values(file: SourceFile) -> Iterator[tuple[int, Any]]:
    """Read the JSON values of a file with their lines: one a line, over several, or in a list.

    A bad value is a ValueError; an InputError where it would hide others of a list.
    """
    with open_text(file.path) as stream:

        def more() -> str:
            # Up to the end of a line, if near, so that few values are cut.
            return stream.read(CHUNK) + stream.readline(CHUNK)

        def plain_value(found: re.Match[str]) -> str:
            value = found[1].strip('"')
            return value if found[0].startswith("Number") else f'"{value}"'

        text, at, line, latest, opened = more(), 0, 1, 0, False
        head = text[:4096]
        while True:
            start, at = at, SEPARATORS.match(text, at).end()  # type: ignore[union-attr]
            line += text.count("\n", start, at)
            if at == len(text):
                if not (text := more()):
                    return
                at = 0
                continue
            if text[at] == "]" or (text[at] == "[" and not opened):
                opened, at = text[at] == "[", at + 1
                continue
            end, long = -1, len(text) - at > LONGEST
            try:
                value, end = fields.DECODER.raw_decode(text, at)
            except json.JSONDecodeError as error:
                cut = error.pos > len(text) - MARGIN or error.msg.startswith("Unterminated")
                if cut and not long and (piece := more()):
                    text, at = text[at:] + piece, 0
                    # The same amount again: a long value is not parsed again with every piece.
                    aim = 2 * len(text)
                    while len(text) < aim and (piece := more()):
                        text += piece
                    continue
                if SHELL_TYPE.match(text, error.pos):
                    text, at = SHELL_TYPE.sub(plain_value, text[at:]), 0
                    continue
                fault = f"{error.msg} at character {error.pos - text.rfind(chr(10), 0, at)}"
                fault = f"longer than {LONGEST:,} characters" if cut and long else fault
            except (RecursionError, ValueError) as error:
                deep = isinstance(error, RecursionError)
                fault = "nested too deeply" if deep else "a number is too long"
            if end >= 0:
                broken = not text.isascii() and NOT_UTF_8.search(text, at, end)
                yield line, ValueError("not UTF-8") if broken else value
                line += text.count("\n", at, end)
                latest, at = line, end
                continue
            if not latest and (what := other_layout(head)):
                raise InputError(f"{file.path}: {what}")
            if opened and latest == line:
                raise InputError(
                    f"{file.path}: line {line}: {fault}; what follows in this line cannot be read: "
                    "write one paper a line (jq -c '.[]' FILE)"
                )
            yield line, ValueError("not UTF-8" if NOT_UTF_8.search(text, at, at + 4096) else fault)
            latest = latest or -1
            end = text.find("\n", at)
            while end < 0 and text:
                text = more()
                end = text.find("\n")
            at = end if end >= 0 else len(text)


class JsonSource(Source):
    """A source of JSON files: objects one a line, over several lines, or in lists.

    An object whose only list is ``results``, ``data``, ``papers``, ``works``, ``items`` or
    ``docs``, as an API answers, stands for the objects in it.

    Example:
        >>> from pathlib import Path
        >>> class Ours(vs.JsonSource):
        ...     def _paper(self, row):
        ...         authors = (vs.RawAuthor("a1", row["by"]),)
        ...         return vs.RawRecord(row["key"], row["name"], "", row["year"], authors)
        >>> line = '{"key": "p1", "name": "Networks", "year": 2009, "by": "Ada"}'
        >>> _ = Path("papers.jsonl").write_text(line)
        >>> [record.title for record in Ours("papers.jsonl")]
        ['Networks']
    """

    fields = fields
    """Functions that turn values of an entry into fields of a record; each raises ValueError."""
    endings = (".jsonl", ".ndjson", ".json", ".txt")
    nothing_found = "no JSON: files ending in .jsonl, .ndjson, .json or .txt, plain or packed"

    def _entries(self) -> Generator[SourceEntry]:
        for file in self.files:
            for line, value in read_values(file) if self._takes(file) else ():
                # Of few fields it may be no paper, but what an API has answered.
                inside = (value.get(key) for key in ENVELOPES) if isinstance(value, dict) else ()
                value = next((one for one in inside if isinstance(one, dict)), value)
                if not (isinstance(value, dict) and len(value) <= MOST_IN_ANSWERS):
                    yield SourceEntry(file, line, value)
                    continue
                wrapped = (value[key] for key in WRAPPERS if "title" not in value and key in value)
                for row in next((rows for rows in wrapped if _holds_objects(rows)), [value]):
                    errors = sorted(ERRORS & row.keys())
                    if errors and not {"id", "title", "_id"} & row.keys():
                        message = "; ".join(str(row[key]) for key in errors)
                        raise InputError(
                            f"{file.path}: line {line}: contains an error instead of papers "
                            f"({message:.90}); download it again"
                        )
                    yield SourceEntry(file, line, row)

    def _takes(self, file: SourceFile) -> bool:
        """Whether the records of a file are papers; a subclass may count others here."""
        return True

    def _record(self, content: Any) -> RawRecord:
        if not isinstance(content, dict):
            raise ValueError("not a JSON object")
        return self._paper(content)

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        """Make the record of a JSON object, as ``columns`` say unless a subclass does it."""
        return self._from_columns(row)


def _holds_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


NOT_PAPERS = ("patent", "dataset")
"""Values of ``doc_type`` whose records are skipped."""
PAPER_FIELDS = frozenset(("title", "authors", "year", "references", "abstract"))
SIDES = ("mag_papers", "aminer_papers")


def _signed(value: Any, name: str) -> tuple[RawAuthor, ...]:
    people = []
    for entry in fields.parse_names(value, name):
        if isinstance(entry, str):
            people.append(RawAuthor("", fields.parse_text(entry, "author")))
            continue
        author = fields.parse_object(entry, "author")
        known = author.get("id") or author.get("_id") or author.get("authorId")
        id_, place = fields.parse_id(known, "author id"), author.get("org")
        name = fields.parse_text(author.get("name"), "author name") or fields.parse_person(author)
        people.append(RawAuthor(id_, name, fields.parse_text(place, "author org")))
    return tuple(people)


def _named(value: Any, name: str) -> str:
    if isinstance(value, dict):
        return fields.parse_text(value.get("name"), f"{name} name")
    return fields.parse_text(value, name)


def _venue(value: Any, name: str) -> str:
    if not isinstance(value, dict):
        return fields.parse_text(value, name)
    return fields.first_text(
        fields.parse_text(value.get(key), f"{name} {key}") for key in ("name", "name_d", "raw")
    )


class JsonLines(JsonSource):
    """Papers as JSON objects, one a line."""

    kind = "jsonl"
    columns: ClassVar[Columns] = {
        "id": [("id", fields.require_id)],
        "title": [("title", fields.require_title)],
        "abstract": [("abstract", fields.parse_text)],
        "year": [("year", fields.parse_year)],
        "authors": [("authors", _signed)],
        "references": [("references", partial(fields.parse_texts, read=fields.parse_id))],
        "keywords": [("keywords", fields.parse_texts)],
        "venue": [("venue", fields.parse_text)],
        "citations": [("n_citation", fields.parse_count)],
    }


class AcademicJson(JsonLines):
    """The base class of sources in the JSON of AMiner's releases."""

    columns: ClassVar[Columns] = {
        **JsonLines.columns,
        "abstract": [
            ("abstract", fields.parse_text),
            ("indexed_abstract", fields.parse_mag_abstract),
        ],
        "keywords": [
            ("keywords", fields.parse_texts),
            ("fos", partial(fields.parse_texts, read=_named)),
        ],
        "venue": [("venue", _venue)],
    }

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        record = super()._paper(row)
        kind = fields.parse_text(row.get("doc_type"), "doc_type").casefold()
        if kind in NOT_PAPERS:
            raise SkippedRecord(f"doc_type {kind}")
        return record


class Dblp(AcademicJson):
    """The DBLP citation network, v10 to v13."""

    kind = "dblp"
    columns: ClassVar[Columns] = {
        **AcademicJson.columns,
        "id": [("id", fields.parse_id), ("_id", fields.require_id)],
    }


class OpenAcademicGraph(AcademicJson):
    """The Open Academic Graph: 3.x, and the MAG or the AMiner side of 2.x.

    Files of authors, venues and affiliations, recognised by their fields, are not dated: not used.
    """

    kind = "oag"

    def _entries(self) -> Generator[SourceEntry]:
        names = [file.path.name.lower() for file in self.files]
        if all(any(name.startswith(side) for name in names) for side in SIDES):
            raise InputError(
                f"{self._where}: contains mag_papers and aminer_papers, the same papers under "
                "different ids; give the files of one side"
            )
        return super()._entries()

    def _takes(self, file: SourceFile) -> bool:
        """Whether the first lines of a file are compatible with papers."""
        for _, value in islice(read_values(file), SNIFFED):
            if isinstance(value, ValueError):
                continue
            if isinstance(value, dict) and not PAPER_FIELDS & value.keys():
                if "name" in value or "DisplayName" in value:
                    self.report.unused.append(f"{file.label}: no publications")
                    return False
                continue
            return True
        return True

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        if row.get("id") in (None, ""):
            raise SkippedRecord("no id")
        return super()._paper(row)


OTHER_ENTITIES = frozenset(
    (
        *("authors", "awards", "concepts", "continents", "countries", "domains", "fields"),
        *("funders", "institution-types", "institutions", "keywords", "languages", "licenses"),
        *("merged_ids", "parquet", "publishers", "sdgs", "source-types", "sources"),
        *("subfields", "topics", "work-types"),
    )
)
"""Folders of a snapshot without works."""
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


def _displayed(value: Any, name: str) -> str:
    if isinstance(value, str):
        return fields.parse_text(value, name)
    entry = fields.parse_object(value, name)
    written = entry.get("display_name") or entry.get("keyword")
    return fields.parse_text(written, f"{name} display_name")


class OpenAlex(JsonSource):
    """Works of OpenAlex; ids are shortened to ``W123`` and ``A123``."""

    kind = "openalex"
    never_known = (
        "yearly citation counts cover ten years at most",
        "merged works are not distinguished: merged_ids is not read",
    )
    nothing_found = (
        "no works: parts of a snapshot (works/updated_date=.../part_000.gz), pages of the API, "
        "or JSON lines"
    )

    def wants(self, path: Path) -> bool:
        """Whether a file is a part or JSON file outside of other entities' folders."""
        if OTHER_ENTITIES & {part.lower() for part in path.parts[:-1]}:
            return False
        part = path.name.startswith("part_") and path.suffix in (".gz", "")
        return path.name != "manifest.json" and (part or super().wants(path))

    def _ordered(self, files: list[SourceFile]) -> list[SourceFile]:
        def updated(file: SourceFile) -> str:
            """The partition of a file, which sorts by date; empty outside a snapshot."""
            parts = file.path.parts[::-1]
            return next((part for part in parts if part.startswith("updated_date=")), "")

        # From the newest back: of a work that occurs in several parts the first is taken.
        return sorted(files, key=updated, reverse=True)

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        id_ = short_id(fields.require_id(row.get("id")), "id")
        # The first letter of an id names the kind of thing; works have W.
        if id_[:1] in "AICSPFTKD" and SHORT_ID.fullmatch(id_):
            raise SkippedRecord("not a work")
        title = fields.require_title(row.get("title") or row.get("display_name"))
        year = fields.parse_year(row.get("publication_year"), "publication_year")
        signed, authors = fields.parse_objects(row.get("authorships"), "authorships"), []
        for entry in signed:
            author = fields.parse_object(entry.get("author"), "author")
            written = fields.parse_text(entry.get("raw_author_name"), "raw_author_name")
            name = fields.parse_text(author.get("display_name"), "author display_name") or written
            hosts = fields.parse_objects(entry.get("institutions"), "institutions")
            names = [one.get("display_name") for one in hosts]
            places = [fields.parse_text(one, "institution display_name") for one in names]
            strings = entry.get("raw_affiliation_strings")
            places += fields.parse_texts(strings, "raw_affiliation_strings")
            author_id = short_id(author.get("id"), "author id")
            authors.append(RawAuthor(author_id, name, fields.first_text(places)))
        if fields.parse_flag(row.get("is_authors_truncated", len(signed) == MOST_LISTED), "flag"):
            authors.append(RawAuthor("", "et al."))
        concepts = [
            one
            for one in fields.parse_objects(row.get("concepts"), "concepts")
            if isinstance(score := one.get("score"), float | int) and score >= CONCEPT_SCORE
        ]
        location = fields.parse_object(row.get("primary_location"), "primary_location")
        venues = (
            fields.parse_text(fields.parse_object(host, "venue").get("display_name"), "venue name")
            for host in (location.get("source"), row.get("host_venue"))
        )
        by_year: dict[int, int] = {}
        for entry in fields.parse_objects(row.get("counts_by_year"), "counts_by_year"):
            cited = fields.parse_count(entry.get("cited_by_count"), "counts_by_year cited_by_count")
            if cited is not None:
                by_year[fields.parse_year(entry.get("year"))] = cited
        index, works = row.get("abstract_inverted_index"), row.get("referenced_works")
        record = RawRecord(
            id=id_,
            title=title,
            abstract=fields.parse_inverted_index(index, "abstract_inverted_index"),
            year=year,
            authors=tuple(authors),
            references=fields.parse_texts(works, "referenced_works", short_id),
            keywords=fields.parse_texts(row.get("keywords"), "keywords", _displayed)
            or fields.parse_texts(row.get("topics"), "topics", _displayed)
            or fields.parse_texts(concepts, "concepts", _displayed),
            venue=fields.first_text(venues),
            citations=fields.parse_count(row.get("cited_by_count"), "cited_by_count"),
            citations_by_year=tuple(sorted(by_year.items())),
        )
        if fields.parse_flag(row.get("is_retracted"), "is_retracted"):
            raise SkippedRecord("retracted")
        paratext = fields.parse_flag(row.get("is_paratext"), "is_paratext")
        if paratext or row.get("type") == "paratext":
            raise SkippedRecord("paratext")
        return record


DERIVED = re.compile(r"adjacency\.txt|weight_matrix\.txt|author_\d+\.txt")


class VirSciFiles(Source):
    """VirSci's folder of papers as Python dicts; derived files may reveal the future: not read."""

    kind = "virsci"
    one_a_file = True
    endings = (".txt",)
    nothing_found = "no paper files: one Python dict in each .txt"
    columns: ClassVar[Columns] = {
        "id": [("id", fields.require_id)],
        "title": [("title", fields.require_title)],
        "abstract": [("abstract", fields.parse_text)],
        "year": [("year", fields.parse_year)],
        "authors": [("people", lambda value, _: value)],
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
        names = fields.parse_names(literal.get("authors"), "authors")
        places = literal.get("affiliations")
        # Empty parts keep their place, by which they belong to an author.
        places = places.split(";") if isinstance(places, str) else places
        places = fields.of_each(fields.parse_list(places, "affiliations"), names)
        people = tuple(
            RawAuthor("", fields.parse_text(name, "author"), fields.parse_text(at, "affiliation"))
            for name, at in zip(names, places, strict=True)
        )
        return self._from_columns(literal | {"people": people})
