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
import re
from collections.abc import Generator, Iterator
from functools import partial
from itertools import islice
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
WRAPPERS = ("results", "data", "papers", "works", "items")
"""Fields that hold the list of papers in an answer of an API."""
ERRORS = frozenset(("error", "errors", "message", "detail", "exception"))
MOST_IN_ANSWERS = 6
"""Most fields of an answer that holds papers in a list, or reports an error."""


def read_values(file: SourceFile) -> Iterator[tuple[int, Any]]:
    """Read the JSON values of a file with their lines, whatever their layout.

    Values stand one a line, over several lines, behind one another, or in one list. Of what is no
    value, the rest of the line is a ValueError. Where that would hide further values of a list,
    and where the file has another layout, an InputError says so.
    """
    with open_text(file.path) as stream:

        def more() -> str:
            # To the end of a line, where that is near, so that few values are cut.
            return stream.read(CHUNK) + stream.readline(CHUNK)

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
                    # As much again, so that a long value is not parsed anew with every piece.
                    aim = 2 * len(text)
                    while len(text) < aim and (piece := more()):
                        text += piece
                    continue
                if SHELL_TYPE.match(text, error.pos):
                    text, at = SHELL_TYPE.sub(_plain_value, text[at:]), 0
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
            while (end := text.find("\n", at)) < 0 and (text := more()):
                at = 0
            at = end if end >= 0 else len(text)


def _plain_value(found: re.Match[str]) -> str:
    value = found[1].strip('"')
    return value if found[0].startswith("Number") else f'"{value}"'


class JsonSource(Source):
    """A source of JSON files: objects one a line, over several lines, or in lists.

    An object whose only list is ``results``, ``data``, ``papers``, ``works`` or ``items``, as an
    API answers, stands for the objects in it.

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
            if self._takes(file):
                for line, value in read_values(file):
                    # Few fields: not a paper, but what an API has answered.
                    few = isinstance(value, dict) and len(value) <= MOST_IN_ANSWERS
                    for row in self._rows(value) if few else (value,):
                        if few:
                            self._refuse_error(file, line, row)
                        yield SourceEntry(file, line, row)

    def _takes(self, file: SourceFile) -> bool:
        """Whether the records of a file are papers; a subclass may count others here."""
        return True

    def _rows(self, value: dict[str, Any]) -> list[Any]:
        """The records in an object of few fields."""
        if "title" not in value:
            return next((value[key] for key in WRAPPERS if _objects(value.get(key))), [value])
        return [value]

    def _refuse_error(self, file: SourceFile, line: int, row: dict[str, Any]) -> None:
        """Raise InputError for an object that reports an error, where papers should be."""
        if ERRORS & row.keys() and not {"id", "title", "_id"} & row.keys():
            told = "; ".join(str(row[key]) for key in sorted(ERRORS & row.keys()))
            raise InputError(
                f"{file.path}: line {line}: holds an error instead of papers ({told:.90}); "
                "download it again"
            )

    def _record(self, content: Any) -> RawRecord:
        if not isinstance(content, dict):
            raise ValueError("not a JSON object")
        return self._paper(content)

    def _paper(self, row: dict[str, Any]) -> RawRecord:
        """Make the record of a JSON object, as ``columns`` say unless a subclass does it."""
        return self._from_columns(row)


def _objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


NOT_PAPERS = ("patent", "dataset")
"""Values of ``doc_type`` whose records are skipped."""
PAPER_FIELDS = frozenset(("title", "authors", "year", "references", "abstract"))
SIDES = ("mag_papers", "aminer_papers")


def _signature(entry: Any) -> RawAuthor:
    if isinstance(entry, str):
        return RawAuthor("", fields.parse_text(entry, "author"))
    author = fields.parse_object(entry, "author")
    return RawAuthor(
        fields.parse_id(author.get("id") or author.get("_id"), "author id"),
        fields.parse_text(author.get("name"), "author name"),
        fields.parse_text(author.get("org"), "author org"),
    )


def _signed(value: Any, name: str) -> tuple[RawAuthor, ...]:
    return tuple([_signature(entry) for entry in fields.parse_names(value, name)])


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
    """The DBLP citation network: ``dblp-ref-*.json`` of v10, ``dblp.v12.json``, ``dblpv13.json``.

    Authors of v10 have names only, so people who share a name are one scientist.
    """

    kind = "dblp"
    columns: ClassVar[Columns] = {
        **AcademicJson.columns,
        "id": [("id", fields.parse_id), ("_id", fields.require_id)],
    }


class OpenAcademicGraph(AcademicJson):
    """The Open Academic Graph: 3.x, and the MAG or the AMiner side of 2.x.

    Publications are JSON lines; each file is recognised by its fields, not by its name. Files of
    authors, venues and affiliations may lie beside them: they are named and
    not used, since they are not dated. A publication without an id is skipped.
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
        """Whether the first lines of a file do not show that it holds something else."""
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
