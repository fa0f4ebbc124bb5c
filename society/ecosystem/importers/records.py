"""Raw records, the papers of a source before any filter and any masked name, and their counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

_HERE = "virsci_society.society.ecosystem.importers"
IMPORTERS: dict[str, str] = {
    "jsonl": f"{_HERE}.json_papers:JsonLines",
    "aminer": f"{_HERE}.aminer:AMiner",
    "oag": f"{_HERE}.json_papers:OpenAcademicGraph",
    "openalex": f"{_HERE}.json_papers:OpenAlex",
    "virsci": f"{_HERE}.json_papers:VirSciFiles",
    "dblp": f"{_HERE}.json_papers:Dblp",
    "csv": f"{_HERE}.exports:CsvPapers",
    "ris": f"{_HERE}.exports:Ris",
    "bibtex": f"{_HERE}.exports:BibTex",
}
"""The class of every importer by the name that a user gives."""


class RawAuthor(NamedTuple):
    """One author of a record.

    Attributes:
        id: the source's id. An importer leaves it empty where there is none; the record that is
            yielded then has ``name:`` and the normalised name.
        name: the real name; leaves the build only in the key file.
        affiliation: possibly empty.

    Example:
        >>> author = vs.RawAuthor("name:ada lovelace", "Ada Lovelace")
        >>> author.name, author.affiliation
        ('Ada Lovelace', '')
    """

    id: str
    name: str
    affiliation: str = ""


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One paper of a source.

    Attributes:
        id: unique in the source.
        title: never empty, as other texts may be.
        authors: in author order, nobody twice.
        references: ids of cited papers, in the source or not.
        citations: count at collection time; None where the source has none.
        citations_by_year: pairs (year, citations received in it), years ascending, none
            twice; empty where the source does not date them. They may cover the last
            years only, so their sum can be less than ``citations``.

    Example:
        >>> ada = vs.RawAuthor("a1", "Ada Lovelace")
        >>> paper = vs.RawRecord("p1", "Notes", "", 1843, (ada,), references=("p0",))
        >>> paper.year, paper.references, paper.citations
        (1843, ('p0',), None)
    """

    id: str
    title: str
    abstract: str
    year: int
    authors: tuple[RawAuthor, ...]
    references: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    venue: str = ""
    citations: int | None = None
    citations_by_year: tuple[tuple[int, int], ...] = ()


SHOWN = 20
"""Malformed records that are shown."""
LEFT_OUT = "paper left out"
OPTIONAL = ("abstract", "authors", "references", "keywords", "citations", "citations_by_year")
"""Fields that a source may lack."""


class SkippedRecord(Exception):
    """Raised for a well-formed record that a stated rule leaves out; the message is the reason."""


@dataclass
class ImportReport:
    """Counts of one import; always ``read == kept + sum(passed.values()) + malformed``.

    Attributes:
        having: optional field -> kept records that have it; what none has is unknown.
        named: authorships whose author is identified by the name, for want of an id.
        left_out: authorships left out: without a name and an id.
        changed: rule of ``cleaning`` that changes a value -> number of values.
    """

    read: int = 0
    kept: int = 0
    passed: dict[str, int] = field(default_factory=dict)
    malformed: int = 0
    shown: list[str] = field(default_factory=list)
    having: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OPTIONAL, 0))
    named: int = 0
    left_out: int = 0
    unused: list[str] = field(default_factory=list)
    changed: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)

    def count_kept(self, record: RawRecord) -> None:
        """Count a record that is yielded, and its optional fields."""
        self.kept += 1
        having = self.having
        having["abstract"] += bool(record.abstract)
        having["authors"] += bool(record.authors)
        having["references"] += bool(record.references)
        having["keywords"] += bool(record.keywords)
        having["citations"] += record.citations is not None
        having["citations_by_year"] += bool(record.citations_by_year)

    def add_example(self, place: str, reason: str) -> None:
        """Keep an error and its place as an example, if it is among the first 20."""
        example = f"{place}: {reason}"
        if len(self.shown) < SHOWN and example not in self.shown:
            self.shown.append(example)

    def cleaning(self) -> list[dict[str, Any]]:
        """What was changed or left out, how many, and an example, one row per rule."""
        left_out = {f"{LEFT_OUT}: {reason}": count for reason, count in self.passed.items()}
        rows = [
            {"what": what, "number": count, "example": self.examples[what]}
            for what, count in (self.changed | left_out).items()
        ]
        if self.malformed:
            what = f"{LEFT_OUT}: malformed"
            rows.append({"what": what, "number": self.malformed, "example": self.shown[0]})
        return rows

    def summary(self) -> str:
        """The counts in one line: ``27 records: 8 kept, 19 passed over (no title 19) ...``."""
        reasons = ", ".join(f"{why} {count:,}" for why, count in sorted(self.passed.items()))
        passed = f"{sum(self.passed.values()):,} passed over" + (f" ({reasons})" if reasons else "")
        return f"{self.read:,} records: {self.kept:,} kept, {passed}, {self.malformed:,} malformed"
