"""Generic JSON lines: one paper per line, plain or gzip, read with bounded memory.

Fields: ``id``, ``title``, ``abstract``, ``year``, ``authors`` (``id``, ``name``, ``org``),
``n_citation``, ``references``, ``venue``, ``keywords``; others are passed over. A line that
cannot be read is counted and told by its number, and fatal only above a stated share.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.errors import InputError
from society.ecosystem.records import RawAuthor, RawRecord

SHOWN = 20
PROGRESS_EVERY = 1000


@dataclass
class Reading:
    """How the reading of a source went.

    Attributes:
        records: lines that became records.
        malformed: lines that did not.
        shown: the first 20 of those, as ``line 12: what is wrong``.
    """

    records: int = 0
    malformed: int = 0
    shown: list[str] = field(default_factory=list)

    def reject(self, line: int, reason: str) -> None:
        """Count a malformed line."""
        self.malformed += 1
        if len(self.shown) < SHOWN:
            self.shown.append(f"line {line}: {reason}")


class JsonLines:
    """A file of papers; iterating yields its records, ``reading`` tells what was left out.

    Args:
        path: the file; ``.gz`` is unpacked on the way.
        malformed_share: the largest share of malformed lines that is put up with.
        progress: called now and then with the number of lines read so far.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        malformed_share: float = 0.01,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.path = Path(path)
        self.malformed_share = malformed_share
        self.reading = Reading()
        self._progress = progress

    def __iter__(self) -> Iterator[RawRecord]:
        self.reading = Reading()
        known: set[str] = set()
        lines = 0
        for lines, line in self._lines():
            if self._progress and lines % PROGRESS_EVERY == 0:
                self._progress(lines)
            if not line.strip():
                continue
            try:
                record = _record(line)
                if record.id in known:
                    raise ValueError(f"id {record.id!r} was read already")
            except ValueError as error:
                self.reading.reject(lines, str(error))
                continue
            known.add(record.id)
            self.reading.records += 1
            yield record
        if self._progress:
            self._progress(lines)
        self._judge()

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        try:
            # Bytes, so that a line in another encoding is one malformed line, not the end.
            with self.path.open("rb") as raw, _unpacked(raw, self.path) as file:
                yield from enumerate(file, start=1)
        except FileNotFoundError as error:
            message = f"{self.path}: no such file; give the path of a JSON lines file"
            raise InputError(message) from error
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(
                f"{self.path}: cannot be read ({error}); check that it is complete"
            ) from error

    def _judge(self) -> None:
        found = self.reading
        told = "\n  ".join(found.shown)
        if not found.records:
            raise InputError(
                f"{self.path}: no readable record in it; each line is one JSON object with "
                f"id, title, year and authors\n  {told}".rstrip()
            )
        if found.malformed > self.malformed_share * (found.records + found.malformed):
            raise InputError(
                f"{self.path}: {found.malformed} malformed lines beside {found.records} records, "
                f"more than the share of {self.malformed_share:g} that is allowed; mend them "
                f"or allow a larger share\n  {told}"
            )


def _unpacked(raw: io.BufferedReader, path: Path) -> io.BufferedReader | gzip.GzipFile:
    return gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw


def _record(line: bytes) -> RawRecord:
    try:
        row = json.loads(line)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    return RawRecord(
        id=_text(row, "id", needed=True),
        title=_text(row, "title", needed=True),
        abstract=_text(row, "abstract"),
        year=_year(row.get("year")),
        authors=_authors(row.get("authors")),
        references=_texts(row, "references"),
        keywords=_texts(row, "keywords"),
        venue=_text(row, "venue"),
        citations=_count(row.get("n_citation")),
    )


def _text(row: dict[str, Any], name: str, needed: bool = False) -> str:
    value = row.get(name)
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise ValueError(f"{name} is not text")
    # A lone surrogate is legal in JSON and can be written nowhere else.
    clean = " ".join(value.encode("utf-8", "replace").decode("utf-8").split())
    if needed and not clean:
        raise ValueError(f"{name} is missing")
    return clean


def _texts(row: dict[str, Any], name: str) -> tuple[str, ...]:
    values = row.get(name) or []
    if not isinstance(values, list):
        raise ValueError(f"{name} is not a list")
    return tuple(dict.fromkeys(text for v in values if (text := _text({name: v}, name))))


def _year(value: Any) -> int:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1000 <= value <= 2999:
        raise ValueError(f"year is {value!r:.40}")
    return value


def _count(value: Any) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError(f"n_citation is {value!r:.40}")
    return value


def _authors(value: Any) -> tuple[RawAuthor, ...]:
    if value is None:
        value = []
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise ValueError("authors is not a list of objects")
    authors: dict[str, RawAuthor] = {}
    for entry in value:
        name = _text(entry, "name")
        key = _text(entry, "id") or name
        if key:
            authors.setdefault(key, RawAuthor(key, name or key, _text(entry, "org")))
    return tuple(authors.values())
