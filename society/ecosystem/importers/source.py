"""The base class of importers, which yield raw records and report what they leave out.

A source does not filter by quality and knows no boundary year; that is the task of the build.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.building.raw_records import RawRecord
from virsci_society.society.ecosystem.importers.authors import (
    AuthorIdentityRule,
    Identity,
    Nameless,
)
from virsci_society.society.ecosystem.importers.files import Position, SourceFile, find_files
from virsci_society.society.ecosystem.importers.id_set import IdSet
from virsci_society.society.ecosystem.importers.report import ImportReport, SkippedRecord

PROGRESS_EVERY = 1000
"""Records between two calls of a progress."""
LATER_CITATIONS = "citations at collection time include those made after the boundary"
UNKNOWN = {
    "abstract": "no abstracts: no record has one",
    "authors": "no authors: no record names one",
    "references": "no references: no record has any, so they are unknown, not none, and "
    "citations before the boundary cannot be counted from them",
    "keywords": "no keywords: no record has any",
    "citations": "no citation counts: they are unknown, not zero",
}
"""Notes on fields that no record has."""


class SourceEntry(NamedTuple):
    """One record as its file has it, before it is parsed.

    Attributes:
        file: the file that holds it.
        line: number of the line at which it begins.
        end: the position behind it, from which reading may resume.
        content: the input of ``_record``; or a ValueError that says why there is none.
    """

    file: SourceFile
    line: int
    end: Position
    content: Any


class Source(Iterable[RawRecord], ABC):
    """Files of a format; iterating yields their records, and ``report`` counts what is left out.

    One iteration at a time.

    Args:
        paths: one path or several: files, or folders in which the source finds its files.
        malformed_share: the largest tolerated share of malformed records, from 0 to 1.
        progress: called now and then with the number of records read so far.
        authors: ``id`` identifies authors by the source's id, ``name`` by their name.
        nameless: identity of authors without an id: by ``name``, or left out (``drop``).

    Attributes:
        report: counts of the latest iteration, also while it goes on.
        position: the position behind the latest record.

    Raises:
        InputError: while iterating: a file is missing, cut short or damaged, no record is left, or
            more records are malformed than tolerated.

    Example:
        >>> from pathlib import Path
        >>> _ = Path("papers.jsonl").write_text('{"key": "p1"}')
        >>> class Strict(vs.JsonSource):
        ...     def _paper(self, row):
        ...         raise ValueError("no title")
        >>> source = Strict("papers.jsonl", malformed_share=0.0)
        >>> isinstance(source, vs.Source), [file.path.name for file in source.files]
        (True, ['papers.jsonl'])
    """

    kind: ClassVar[str]
    """The name by which the source is asked for."""
    source_name: ClassVar[str]
    """The name of the source in the manifest."""
    version: ClassVar[int] = 1
    """Counted up when the same files give other records than before."""
    never_known: ClassVar[tuple[str, ...]] = ()
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
        self.author_rule = AuthorIdentityRule(authors, nameless)
        self.report = ImportReport()
        self.position = Position()
        self._progress = progress

    @cached_property
    def files(self) -> tuple[SourceFile, ...]:
        """The files in the order in which they are read; InputError where there is none."""
        files = tuple(self._ordered(find_files(self.paths, self.wants)))
        if not files:
            raise InputError(f"{self._where}: holds {self.nothing_found}")
        return files

    @property
    def name_rule(self) -> str:
        """The rule by which authors are told apart, in a sentence."""
        return self.author_rule.description

    @property
    def unknown(self) -> tuple[str, ...]:
        """What this source cannot tell, one sentence each; complete once it was read."""
        if not self.report.kept:
            return self.never_known
        having = self.report.having
        later = (LATER_CITATIONS,) if having["citations"] else ()
        missing = tuple(why for what, why in UNKNOWN.items() if not having[what])
        return later + self.never_known + missing + self._unsure_authors()

    def __iter__(self) -> Iterator[RawRecord]:
        return self.resume(Position(), ImportReport(), IdSet())

    def resume(self, start: Position, report: ImportReport, seen: IdSet) -> Iterator[RawRecord]:
        """Yield the records behind a position, and count on from an earlier report.

        Args:
            start: ``position`` of the earlier iteration.
            report: its counts; they are continued.
            seen: the ids of the records it kept.

        Raises:
            InputError: as for iterating.
        """
        self.report, self.position = report, start
        with closing(self._entries(start)) as entries:
            for entry in entries:
                self.position = entry.end
                report.read += 1
                record = self._read_entry(entry, seen)
                if self._progress and report.read % PROGRESS_EVERY == 0:
                    self._progress(report.read)
                if record is not None:
                    yield record
        if self._progress:
            self._progress(report.read)
        self.require_acceptable()

    def require_acceptable(self) -> None:
        """Check the report of a complete iteration.

        Raises:
            InputError: no record is left, or too many were malformed.
        """
        report = self.report
        examples = "".join(f"\n  {line}" for line in report.shown)
        if not report.kept:
            raise InputError(
                f"{self._where}: no readable record in it; {report.summary()}; "
                f"expected {self.nothing_found.removeprefix('no ')}{examples}"
            )
        if report.malformed > self.malformed_share * report.read:
            raise InputError(
                f"{self._where}: {report.malformed:,} malformed beside {report.kept:,} kept "
                f"records, more than the share of {self.malformed_share:g} that is allowed; mend "
                f"them or allow a larger share{examples}"
            )

    nothing_found: ClassVar[str]
    """What is missing where no file is found: ``no ...``."""

    @abstractmethod
    def wants(self, path: Path) -> bool:
        """Whether a path inside a given folder is one of the source's files."""

    @abstractmethod
    def _entries(self, start: Position) -> Generator[SourceEntry]:
        """The entries behind a position, not parsed yet."""

    @abstractmethod
    def _record(self, content: Any) -> RawRecord:
        """Parse an entry's content; ValueError where malformed, SkippedRecord by a rule."""

    def _ordered(self, files: list[SourceFile]) -> list[SourceFile]:
        return files

    def _read_entry(self, entry: SourceEntry, seen: IdSet) -> RawRecord | None:
        report = self.report
        before = report.named, report.left_out
        try:
            if isinstance(entry.content, ValueError):
                raise entry.content
            record = self._record(entry.content)
            if not seen.add(record.id):
                raise SkippedRecord("duplicate id")
        except SkippedRecord as reason:
            report.count_skipped(str(reason))
        except (ValueError, RecursionError) as error:
            report.count_malformed(f"{entry.file.label}:line {entry.line}", str(error))
        else:
            report.count_kept(record)
            return record
        report.named, report.left_out = before
        return None

    def _unsure_authors(self) -> tuple[str, ...]:
        named, left_out = self.report.named, self.report.left_out
        remarks = (
            (named, "authorships are known by name alone: people who share one are one scientist"),
            (left_out, "authorships are left out: they have no id, or no name either"),
        )
        return tuple(f"{count:,} {what}" for count, what in remarks if count)

    @property
    def _where(self) -> str:
        return ", ".join(str(path) for path in self.paths) or "no path given"
