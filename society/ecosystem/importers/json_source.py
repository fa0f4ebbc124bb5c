"""The base class of sources whose files hold JSON objects, one a line, or lists of them."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from virsci_society.society.ecosystem.importers import fields
from virsci_society.society.ecosystem.importers.files import (
    LONGEST,
    FileLine,
    Position,
    SourceFile,
    is_data_file,
    read_lines,
    read_whole,
)
from virsci_society.society.ecosystem.importers.records import RawRecord
from virsci_society.society.ecosystem.importers.source import Source, SourceEntry

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

    def _entries(self, start: Position) -> Generator[SourceEntry]:
        for number, file in enumerate(self.files):
            if number < start.file or not self._takes(file):
                continue
            begin = start if number == start.file else Position(number)
            document = _document(file)
            if document is not None:
                yield from self._of_document(file, document, begin)
            else:
                yield from self._of_lines(file, begin)

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

    def _of_lines(self, file: SourceFile, start: Position) -> Iterator[SourceEntry]:
        skip = start.item
        for line in read_lines(file, start):
            rows = self._parsed(line)
            after = Position(start.file, line.number, line.end)
            for item, row in enumerate(rows[skip:], start=skip + 1):
                inside = Position(start.file, line.number - 1, line.start, item)
                yield SourceEntry(file, line.number, after if item == len(rows) else inside, row)
            skip = 0

    def _of_document(
        self, file: SourceFile, document: Any, start: Position
    ) -> Iterator[SourceEntry]:
        rows = self._rows(document)
        for item, row in enumerate(rows[start.item :], start=start.item + 1):
            yield SourceEntry(file, 1, Position(start.file, item=item), row)

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
    """Parse a JSON text.

    Raises:
        ValueError: it is not JSON; the message says why in a few words.
    """
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    except json.JSONDecodeError as error:
        # Its own words name line 1, of the one line that it was given.
        raise ValueError(f"{error.msg} at character {error.pos + 1}") from error


def first_values(file: SourceFile) -> Iterator[Any]:
    """The values of those among the first 20 non-empty lines that are JSON by themselves."""
    for bare in _first_lines(file):
        with suppress(ValueError):
            yield parse_json(bare)


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
