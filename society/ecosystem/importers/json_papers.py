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

import json
from abc import abstractmethod
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers import fields
from virsci_society.society.ecosystem.importers.files import (
    LONGEST,
    FileLine,
    SourceFile,
    is_data_file,
    read_lines,
    read_whole,
)
from virsci_society.society.ecosystem.importers.records import AuthorEntry, RawRecord, SkippedRecord
from virsci_society.society.ecosystem.importers.source import Columns, Source, SourceEntry

ENDINGS = (".jsonl", ".ndjson", ".json", ".txt")
SNIFFED = 20
"""Lines from which the layout of a file is recognised."""
TOO_LONG = f"longer than {LONGEST:,} bytes"


class JsonSource(Source):
    """A source of JSON files: a line is an object, a list of objects, or a part of one list.

    In a list that extends over lines, its brackets and the commas between its objects are skipped.
    A file in which none of the first lines is an object or a list by itself is read as one
    document, if it is one and not longer than 64 MB.

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
    nothing_found = "no JSON lines: files ending in .jsonl, .ndjson, .json or .txt, plain or .gz"

    def wants(self, path: Path) -> bool:
        """Whether a file has one of the endings of JSON files."""
        return is_data_file(path, *ENDINGS)

    def _entries(self) -> Generator[SourceEntry]:
        for file in self.files:
            if not self._takes(file):
                continue
            document = _document(file)
            if document is None:
                for line in read_lines(file):
                    for row in self._parsed(line):
                        yield SourceEntry(file, line.number, row)
            else:
                for row in self._rows(document):
                    yield SourceEntry(file, 1, row)

    def _takes(self, file: SourceFile) -> bool:
        """Whether the records of a file are papers; a subclass may count others here."""
        return True

    def _rows(self, value: Any) -> list[Any]:
        """The records in one JSON value."""
        return value if isinstance(value, list) else [value]

    def _record(self, content: Any) -> RawRecord:
        if not isinstance(content, dict):
            raise ValueError("not a JSON object")
        return self._paper(content)

    @abstractmethod
    def _paper(self, row: dict[str, Any]) -> RawRecord:
        """Make the record of a JSON object."""

    def _parsed(self, line: FileLine) -> list[Any]:
        if line.data is None:
            return [ValueError(TOO_LONG)]
        bare = _bare(line.data)
        if not bare:
            return []
        try:
            return self._rows(parse_json(bare))
        except ValueError as error:
            return [error]


def parse_json(data: bytes) -> Any:
    """Parse a JSON text; ValueError with a few words of why, where it is none."""
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    except json.JSONDecodeError as error:
        # Its own words name line 1, of the one line that it was given.
        raise ValueError(f"{error.msg} at character {error.pos + 1}") from error


def _first_lines(file: SourceFile) -> Iterator[bytes]:
    written = (bare for line in read_lines(file) if (bare := _bare(line.data or b"")))
    return islice(written, SNIFFED)


def _document(file: SourceFile) -> Any:
    """The value of a file that is one JSON document over many lines; None for any other file."""
    if any((bare[:1], bare[-1:]) in ((b"{", b"}"), (b"[", b"]")) for bare in _first_lines(file)):
        return None
    whole = read_whole(file)
    with suppress(ValueError):
        return None if whole is None else parse_json(whole)
    return None


def _bare(data: bytes) -> bytes:
    """A line without the brackets and commas of a list that extends over lines."""
    data = data.strip()
    data = data[1:].lstrip() if data[:1] == b"," else data
    data = data[:-1].rstrip() if data[-1:] == b"," else data
    opens, closes = data[:1] == b"[", data[-1:] == b"]"
    if opens and not closes:
        return data[1:].lstrip()
    return data[:-1].rstrip() if closes and not opens else data


NOT_PAPERS = ("patent", "dataset")
"""Values of ``doc_type`` whose records are skipped."""
PAPER_FIELDS = frozenset(("title", "authors", "year", "references", "abstract"))
AUTHOR_FIELDS = frozenset(("normalized_name", "last_known_aff_id", "pubs", "n_pubs", "tags"))
SIDES = ("mag_papers", "aminer_papers")


def _signature(entry: Any) -> AuthorEntry:
    if isinstance(entry, str):
        return AuthorEntry("", fields.parse_text(entry, "author"))
    author = fields.parse_object(entry, "author")
    return AuthorEntry(
        fields.parse_id(author.get("id"), "author id"),
        fields.parse_text(author.get("name"), "author name"),
        fields.parse_text(author.get("org"), "author org"),
    )


def _signed(value: Any, name: str) -> list[AuthorEntry]:
    return [_signature(entry) for entry in fields.parse_list(value, name)]


def _strictly_signed(value: Any, name: str) -> list[AuthorEntry]:
    """The same, but null is no author."""
    entries = fields.parse_list(value, name)
    fields.parse_objects([entry for entry in entries if not isinstance(entry, str)], name)
    return _signed(entries, name)


def _named(value: Any, name: str) -> str:
    if isinstance(value, dict):
        return fields.parse_text(value.get("name"), f"{name} name")
    return fields.parse_text(value, name)


def _venue(value: Any, name: str) -> str:
    if not isinstance(value, dict):
        return fields.parse_text(value, name)
    return fields.first_text(
        fields.parse_text(value.get(key), f"{name} {key}") for key in ("name", "raw")
    )


class JsonLines(JsonSource):
    """Papers as JSON objects, one a line."""

    kind = "jsonl"
    columns: ClassVar[Columns] = {
        "id": [("id", fields.require_id)],
        "title": [("title", fields.require_title)],
        "abstract": [("abstract", fields.parse_text)],
        "year": [("year", fields.parse_year)],
        "authors": [("authors", _strictly_signed)],
        "references": [("references", partial(fields.parse_texts, read=fields.parse_id))],
        "keywords": [("keywords", fields.parse_texts)],
        "venue": [("venue", fields.parse_text)],
        "citations": [("n_citation", fields.parse_count)],
    }

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        return self._from_columns(row)


class AcademicJson(JsonLines):
    """The base class of sources in the JSON of AMiner's releases."""

    columns: ClassVar[Columns] = {
        **JsonLines.columns,
        "abstract": [
            ("abstract", fields.parse_text),
            ("indexed_abstract", fields.parse_mag_abstract),
        ],
        "authors": [("authors", _signed)],
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
    """The DBLP citation network: ``dblp-ref-*.json`` of v10, and ``dblp.v12.json`` line by line.

    Authors of v10 have names only, so people who share a name are one scientist.
    """

    kind = "dblp"


class OpenAcademicGraph(AcademicJson):
    """The Open Academic Graph: 3.x, and the MAG or the AMiner side of 2.x.

    Publications are JSON lines; each file is recognised by its fields, not by its name. Files of
    authors, venues and affiliations may lie beside them: their lines are counted, and nothing of
    them is used, since they are not dated. A publication without an id is skipped.
    """

    kind = "oag"

    def _entries(self) -> Generator[SourceEntry]:
        names = [file.path.name.lower() for file in self.files]
        if all(any(name.startswith(side) for name in names) for side in SIDES):
            raise InputError(
                f"{self._where}: holds mag_papers and aminer_papers, the same papers under "
                "different ids; give the files of one side"
            )
        return super()._entries()

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
    for bare in _first_lines(file):
        try:
            value = parse_json(bare)
        except ValueError:
            continue
        if not isinstance(value, dict) or PAPER_FIELDS & value.keys():
            return ""
        if "name" in value:
            return "authors" if AUTHOR_FIELDS & value.keys() or "org" in value else "named things"
        if "DisplayName" in value:
            return "venues" if "JournalId" in value or "ConferenceId" in value else "affiliations"
    return ""
