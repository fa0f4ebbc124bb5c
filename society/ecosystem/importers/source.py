"""The base class of importers, which yield raw records and report what they leave out."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.society.ecosystem.importers.cleaning import CUT_AUTHORS, MANY_AUTHORS, Cleaning
from virsci_society.society.ecosystem.importers.files import SourceFile, find_files, is_data_file
from virsci_society.society.ecosystem.importers.records import (
    IMPORTERS,
    LEFT_OUT,
    ImportReport,
    RawAuthor,
    RawRecord,
    SkippedRecord,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Columns = Mapping[str, Sequence[tuple[str, Callable[[Any, str], Any]]]]
"""Field of a record -> the keys of a row that may hold it, each with the function that parses it.

The first key with a value counts; an empty one stands for the whole row.
"""
RECENT = 2**16
"""Number of id hashes that are stored as a set."""
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
    """One record as its file has it, before it is parsed."""

    file: SourceFile
    line: int
    content: Any


class IdSet:
    """A growing set of ids, held as 64-bit hashes: of 10^8 hardly two are equal."""

    def __init__(self) -> None:
        self._recent: set[int] = set()
        # Their lengths double, so that there are few of them.
        self._sorted: list[npt.NDArray[np.uint64]] = []

    def add(self, id: str) -> bool:
        """Add an id; True if it is new."""
        key = int.from_bytes(blake2b(id.encode(), digest_size=8).digest(), "little")
        if key in self._recent:
            return False
        for run in self._sorted:
            position = run.searchsorted(run.dtype.type(key))
            if position < len(run) and run[position] == key:
                return False
        self._recent.add(key)
        if len(self._recent) >= RECENT:
            import numpy as np

            run = np.sort(np.fromiter(self._recent, dtype=np.uint64, count=len(self._recent)))
            self._recent = set()
            while self._sorted and len(self._sorted[-1]) <= len(run):
                run = np.sort(np.concatenate((self._sorted.pop(), run)), kind="stable")
            self._sorted.append(run)
        return True


class Source(Iterable[RawRecord], ABC):
    """Files of a format; iteration yields records, and ``report`` counts exclusions.

    One iteration at a time. Authors are told apart by id; those without one by their normalised
    full name (NFKC, case folded, single spaces).

    Args:
        paths: one path or several: files, or folders in which the source finds its files.
        malformed_share: maximum tolerated share of malformed records (0 to 1).
        max_authors: papers with more authors are kept without authors: n authors make
            n (n - 1) / 2 ties.

    Attributes:
        report: counts of the latest iteration, updated while it runs.

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
    never_known: ClassVar[tuple[str, ...]] = ()
    """Data that no file of this kind contains."""
    one_a_file: ClassVar[bool] = False
    """Whether each file holds one paper."""
    columns: ClassVar[Columns] = {}
    """The columns of each field of a record, in the order of parsing."""

    def __init__(
        self,
        paths: Path | str | Sequence[Path | str],
        *,
        malformed_share: float = 0.01,
        max_authors: int = 100,
    ) -> None:
        listed = [paths] if isinstance(paths, Path | str) else paths
        self.paths = tuple(Path(path) for path in listed)
        self.malformed_share = malformed_share
        self.max_authors = max_authors
        self.report = ImportReport()

    @cached_property
    def files(self) -> tuple[SourceFile, ...]:
        """The files in the order of reading; InputError if there are none."""
        files = tuple(self._ordered(find_files(self.paths, self.wants)))
        if not files:
            raise InputError(f"{self._where}: contains {self.nothing_found}")
        return files

    @property
    def unknown(self) -> tuple[str, ...]:
        """Information missing in this source, one sentence each; complete after reading."""
        if not self.report.kept:
            return self.never_known
        having, changed = self.report.having, self.report.changed
        later = (LATER_CITATIONS,) if having["citations"] else ()
        missing = tuple(why for what, why in UNKNOWN.items() if not having[what])
        cut, many = changed.get(CUT_AUTHORS, 0), changed.get(MANY_AUTHORS, 0)
        authors = {
            "papers have a list of authors that the source cut off": cut,
            f"papers of more than {self.max_authors:,} authors are kept without authors": many,
            "authorships are identified by name only: people with the same name are merged": (
                self.report.named
            ),
            "authorships are left out: they have neither an id nor a name": self.report.left_out,
        }
        unsure = tuple(f"{count:,} {what}" for what, count in authors.items() if count)
        return later + self.never_known + missing + unsure

    def __iter__(self) -> Iterator[RawRecord]:
        self.report = report = ImportReport()
        cleaning = Cleaning(report, self.max_authors)
        seen = IdSet()
        file, before = None, (0, 0)
        # Closed at once if the caller stops early: a source may have open and temporary files.
        with closing(self._entries()) as entries:
            for entry in entries:
                if entry.file is not file:
                    self._require_some(file, before)
                    file, before = entry.file, (report.read, report.malformed)
                report.read += 1
                place = partial("{0.file.label}:line {0.line}".format, entry)
                try:
                    if isinstance(entry.content, ValueError):
                        raise entry.content
                    record = cleaning.clean(self._record(entry.content))
                    # Only now: a record that cannot be parsed hides no readable one of its id.
                    if not seen.add(record.id):
                        raise SkippedRecord("duplicate id")
                except SkippedRecord as reason:
                    report.passed[str(reason)] = report.passed.get(str(reason), 0) + 1
                    report.examples.setdefault(f"{LEFT_OUT}: {reason}", place())
                    continue
                except (ValueError, RecursionError) as error:
                    report.malformed += 1
                    report.add_example(place(), str(error))
                    continue
                cleaning.count(place)
                authors = self._identified(record.authors)
                if authors != record.authors:
                    record = replace(record, authors=authors)
                report.count_kept(record)
                yield record
        self._require_some(file, before)
        examples = "".join(f"\n  {line}" for line in report.shown)
        if not report.kept:
            raise InputError(
                f"{self._where}: no readable record in it; {report.summary()}; "
                f"expected {self.nothing_found.removeprefix('no ')}{examples}"
            )
        if report.malformed > self.malformed_share * report.read:
            raise InputError(
                f"{self._where}: {report.malformed:,} malformed and {report.kept:,} valid "
                f"records, above the allowed share of {self.malformed_share:g}; fix them or allow "
                f"a larger share{examples}"
            )

    def _require_some(self, file: SourceFile | None, before: tuple[int, int]) -> None:
        """Raise InputError for a file, one of several, all of whose records were malformed."""
        read, malformed = self.report.read - before[0], self.report.malformed - before[1]
        lenient = self.one_a_file or self.malformed_share >= 1 or malformed == self.report.read
        if file is not None and 0 < read == malformed and not lenient:
            example = next((line for line in self.report.shown if line.startswith(file.label)), "")
            raise InputError(
                f"{file.path}: no readable record in it; replace it, or leave it out\n  {example}"
            )

    nothing_found: ClassVar[str]
    """What is missing where no file is found: ``no ...``."""

    endings: ClassVar[tuple[str, ...]] = ()
    """Ends of the names of its files in a folder, before that of a packed file."""

    def wants(self, path: Path) -> bool:
        """Whether a path inside a given folder is one of the source's files."""
        return is_data_file(path, *self.endings)

    @abstractmethod
    def _entries(self) -> Generator[SourceEntry]:
        """The entries of all files, not parsed yet."""

    @abstractmethod
    def _record(self, content: Any) -> RawRecord:
        """Parse an entry's content; ValueError where malformed, SkippedRecord by a rule."""

    def _from_columns(self, row: Mapping[Any, Any]) -> RawRecord:
        """Make a record as ``columns`` say; ValueError where malformed, SkippedRecord by a rule."""
        values: dict[str, Any] = {}
        for name, places in self.columns.items():
            for key, parse in places:
                values[name] = parse(row.get(key) if key else row, key)
                if values[name]:
                    break
        return RawRecord(**values)

    def _ordered(self, files: list[SourceFile]) -> list[SourceFile]:
        return files

    def _identified(self, signed: Iterable[RawAuthor]) -> tuple[RawAuthor, ...]:
        """Identify the authors of a record, each person once; the report counts how."""
        authors: dict[str, RawAuthor] = {}
        for id_, name, affiliation in signed:
            if id_:
                key = id_
            elif name:
                folded = unicodedata.normalize("NFKC", name).casefold()
                # The prefix keeps a name apart from an id of the source that reads the same.
                key = "name:" + " ".join(folded.split())
                self.report.named += 1
            else:
                self.report.left_out += 1
                continue
            # Of somebody named twice the first entry counts: it has the place among the authors.
            authors.setdefault(key, RawAuthor(key, name or id_, affiliation))
        return tuple(authors.values())

    @property
    def _where(self) -> str:
        return ", ".join(str(path) for path in self.paths) or "no path given"


def open_source(
    kind: str | type[Source], paths: Path | str | Sequence[Path | str], **options: Any
) -> Source:
    """Open a source at one path or several; nothing is read yet."""
    if isinstance(kind, str) and kind not in IMPORTERS:
        near = did_you_mean(kind, IMPORTERS)
        raise InputError(f"{kind!r} is not a source; choose one of {', '.join(IMPORTERS)}{near}")
    make: type[Source] = resolve_name(IMPORTERS[kind]) if isinstance(kind, str) else kind
    return make(paths, **options)
