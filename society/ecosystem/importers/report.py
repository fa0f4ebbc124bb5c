"""The report of an import with its counts of kept, skipped and malformed records.

Every record that is read is kept, skipped by a stated rule, or malformed; nothing is lost silently.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from virsci_society.society.ecosystem.building.raw_records import RawRecord

SHOWN = 20
"""Malformed records that are shown."""
OPTIONAL = ("abstract", "authors", "references", "keywords", "citations", "citations_by_year")
"""Fields that a source may lack."""


class SkippedRecord(Exception):
    """Raised for a well-formed record that a stated rule leaves out; the message is the reason."""


@dataclass
class ImportReport:
    """Counts of one import; always ``read == kept + sum(passed.values()) + malformed``.

    Attributes:
        read: records read.
        kept: records yielded.
        passed: reason -> well-formed records that were skipped for it.
        malformed: records that could not be parsed.
        shown: the first 20 of those, as ``papers.json:line 12: what is wrong``.
        having: optional field -> kept records that have it: abstract, authors, references,
            keywords, citations, citations_by_year; what no record has is unknown to the source.
        named: authorships whose author is identified by the name, for want of an id or on request.
        left_out: authorships left out: without id under ``nameless="drop"``, or without a name and
            an id.
        beside: other contents of the files (authors, pairs ...) -> how many; not in ``read``.
    """

    read: int = 0
    kept: int = 0
    passed: dict[str, int] = field(default_factory=dict)
    malformed: int = 0
    shown: list[str] = field(default_factory=list)
    having: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OPTIONAL, 0))
    named: int = 0
    left_out: int = 0
    beside: dict[str, int] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """Number of records kept."""
        return self.kept

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

    def count_skipped(self, reason: str) -> None:
        """Count a well-formed record that is left out."""
        self.passed[reason] = self.passed.get(reason, 0) + 1

    def count_malformed(self, place: str, reason: str) -> None:
        """Count a malformed record, and show it if it is among the first."""
        self.malformed += 1
        self.add_example(place, reason)

    def add_example(self, place: str, reason: str) -> None:
        """Keep an error and its place as an example, if it is among the first 20."""
        example = f"{place}: {reason}"
        if len(self.shown) < SHOWN and example not in self.shown:
            self.shown.append(example)

    def summary(self) -> str:
        """The counts in one line: ``27 records: 8 kept, 19 passed over (no title 19) ...``."""
        reasons = ", ".join(f"{why} {count:,}" for why, count in sorted(self.passed.items()))
        passed = f"{sum(self.passed.values()):,} passed over" + (f" ({reasons})" if reasons else "")
        return f"{self.read:,} records: {self.kept:,} kept, {passed}, {self.malformed:,} malformed"

    def as_json(self) -> dict[str, Any]:
        """The counts as plain data; ``ImportReport(**data)`` restores them."""
        return asdict(self)
