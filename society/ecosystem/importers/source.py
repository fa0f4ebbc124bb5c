"""Source: somebody else's data, read as a stream of raw records that loses nothing silently.

A source does not filter by quality and knows no boundary year; that is the build's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from agents.errors import InputError
from society.ecosystem.importers.authorship import Authorship, Identity, Nameless
from society.ecosystem.importers.files import Found, Position, find_files
from society.ecosystem.importers.reading import PassedOver, Reading
from society.ecosystem.importers.seen import Seen
from society.ecosystem.records import RawRecord

PROGRESS_EVERY = 1000
LATER_CITATIONS = "citations at collection time include those made after the boundary"
UNKNOWN = {
    "abstract": "no abstracts: no record has one",
    "authors": "no authors: no record names one",
    "references": "no references: no record has any, so they are unknown, not none, and "
    "citations before the boundary cannot be counted from them",
    "keywords": "no keywords: no record has any",
    "citations": "no citation counts: they are unknown, not zero",
}


class Entry(NamedTuple):
    """One record as its file has it, before it is judged.

    Attributes:
        file: the file it stands in.
        line: number of the line at which it begins.
        end: the place behind it, from which a reading may go on.
        content: what the importer makes a record of; a ValueError says why it cannot.
    """

    file: Found
    line: int
    end: Position
    content: Any


class Source(Iterable[RawRecord], ABC):
    """Files of a kind; iterating yields their records, ``reading`` tells what was left out.

    Args:
        paths: one path or several: files, or folders in which the source finds its files.
        malformed_share: the largest share of malformed records that is put up with.
        progress: called now and then with the number of records met so far.
        authors: ``id`` tells authors apart by the source's id, ``name`` by their name.
        nameless: what an author without an id is: known by ``name``, or left out (``drop``).

    Attributes:
        reading: counts of the latest iteration, also while it goes on.
        position: the place behind the latest record.

    Iterating raises InputError where a file is missing, cut short or damaged, where no record
    is left, or more are malformed than the share allows. One iteration at a time.
    """

    kind: ClassVar[str]
    """The name by which the source is asked for."""
    describes: ClassVar[str]
    """The name of the source in the manifest."""
    version: ClassVar[int] = 1
    """Counted up when the same files give other records than before."""
    always_unknown: ClassVar[tuple[str, ...]] = ()
    """What no file of the kind can tell."""

    def __init__(
        self,
        paths: Path | str | Sequence[Path | str],
        *,
        malformed_share: float = 0.01,
        progress: Callable[[int], None] | None = None,
        authors: Identity = "id",
        nameless: Nameless = "name",
    ) -> None:
        given = [paths] if isinstance(paths, Path | str) else paths
        self.paths = tuple(Path(path) for path in given)
        self.malformed_share = malformed_share
        self.authorship = Authorship(authors, nameless)
        self.reading = Reading()
        self.position = Position()
        self._progress = progress

    @cached_property
    def files(self) -> tuple[Found, ...]:
        """The files in the order in which they are read; InputError where there is none."""
        found = tuple(self._ordered(find_files(self.paths, self.wants)))
        if not found:
            raise InputError(f"{self._where}: holds {self.nothing_found}")
        return found

    @property
    def name_rule(self) -> str:
        """How authors are told apart, in a sentence."""
        return self.authorship.stated

    @property
    def unknown(self) -> tuple[str, ...]:
        """What this source cannot tell; complete once it was read."""
        if not self.reading.kept:
            return self.always_unknown
        having = self.reading.having
        later = (LATER_CITATIONS,) if having["citations"] else ()
        missing = tuple(why for what, why in UNKNOWN.items() if not having[what])
        return later + self.always_unknown + missing + self._unsure_authors()

    def __iter__(self) -> Iterator[RawRecord]:
        return self.resumed(Position(), Reading(), Seen())

    def resumed(self, start: Position, reading: Reading, seen: Seen) -> Iterator[RawRecord]:
        """The records behind a place, counted on from an earlier reading.

        Args:
            start: ``position`` of the earlier reading.
            reading: its counts; they are counted on.
            seen: the ids of the records it kept.
        """
        self.reading, self.position = reading, start
        with closing(self._entries(start)) as entries:
            for entry in entries:
                self.position = entry.end
                reading.read += 1
                record = self._judged(entry, seen)
                if self._progress and reading.read % PROGRESS_EVERY == 0:
                    self._progress(reading.read)
                if record is not None:
                    yield record
        if self._progress:
            self._progress(reading.read)
        self.judge()

    def judge(self) -> None:
        """Raise InputError where the reading left no record, or too many were malformed."""
        found = self.reading
        told = "".join(f"\n  {line}" for line in found.shown)
        if not found.kept:
            raise InputError(
                f"{self._where}: no readable record in it; {found.told()}; "
                f"expected {self.nothing_found.removeprefix('no ')}{told}"
            )
        if found.malformed > self.malformed_share * found.read:
            raise InputError(
                f"{self._where}: {found.malformed:,} malformed beside {found.kept:,} kept records, "
                f"more than the share of {self.malformed_share:g} that is allowed; mend them "
                f"or allow a larger share{told}"
            )

    nothing_found: ClassVar[str]
    """What is missing where no file is found: ``no ...``."""

    @abstractmethod
    def wants(self, path: Path) -> bool:
        """Whether a path inside a given folder is one of the source's files."""

    @abstractmethod
    def _entries(self, start: Position) -> Generator[Entry]:
        """The records behind a place, unjudged."""

    @abstractmethod
    def _record(self, content: Any) -> RawRecord:
        """A record of an entry's content; ValueError where malformed, PassedOver by a rule."""

    def _ordered(self, files: list[Found]) -> list[Found]:
        return files

    def _judged(self, entry: Entry, seen: Seen) -> RawRecord | None:
        reading = self.reading
        before = reading.named, reading.left_out
        try:
            if isinstance(entry.content, ValueError):
                raise entry.content
            record = self._record(entry.content)
            if not seen.add(record.id):
                raise PassedOver("duplicate id")
        except PassedOver as reason:
            reading.pass_over(str(reason))
        except (ValueError, RecursionError) as error:
            reading.reject(f"{entry.file.label}:line {entry.line}", str(error))
        else:
            reading.keep(record)
            return record
        reading.named, reading.left_out = before
        return None

    def _unsure_authors(self) -> tuple[str, ...]:
        named, left_out = self.reading.named, self.reading.left_out
        told = (
            (named, "authorships are known by name alone: people who share one are one scientist"),
            (left_out, "authorships are left out: they have no id, or no name either"),
        )
        return tuple(f"{count:,} {what}" for count, what in told if count)

    @property
    def _where(self) -> str:
        return ", ".join(str(path) for path in self.paths) or "no path given"
