"""Reading: how the reading of a source went, so that nothing is lost silently.

Every record that was met is kept, passed over by a stated rule, or malformed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from society.ecosystem.records import RawRecord

SHOWN = 20
OPTIONAL = ("abstract", "authors", "references", "keywords", "citations", "citations_by_year")


class PassedOver(Exception):
    """A well-formed record that a stated rule leaves out; the message is the reason."""


@dataclass
class Reading:
    """Counts of one reading; always ``read == kept + sum(passed.values()) + malformed``.

    Attributes:
        read: records met.
        kept: records yielded.
        passed: reason -> well-formed records that were passed over for it.
        malformed: records that could not be read.
        shown: the first 20 of those, as ``papers.json:line 12: what is wrong``.
        having: optional field -> kept records that have it: abstract, authors, references,
            keywords, citations, citations_by_year; what no record has is unknown to the source.
        named: authorships whose author is told by the name, for want of an id or on request.
        left_out: authorships left out: without id under ``nameless="drop"``, or without a name
            and an id.
        beside: what stands beside the papers (authors, pairs ...) -> how many; not in ``read``.
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
        """Records kept."""
        return self.kept

    def keep(self, record: RawRecord) -> None:
        """Count a record that is yielded."""
        self.kept += 1
        having = self.having
        having["abstract"] += bool(record.abstract)
        having["authors"] += bool(record.authors)
        having["references"] += bool(record.references)
        having["keywords"] += bool(record.keywords)
        having["citations"] += record.citations is not None
        having["citations_by_year"] += bool(record.citations_by_year)

    def pass_over(self, reason: str) -> None:
        """Count a well-formed record that is left out."""
        self.passed[reason] = self.passed.get(reason, 0) + 1

    def reject(self, place: str, reason: str) -> None:
        """Count a malformed record."""
        self.malformed += 1
        self.show(place, reason)

    def show(self, place: str, reason: str) -> None:
        """Keep what is wrong at a place, if it is among the first."""
        told = f"{place}: {reason}"
        if len(self.shown) < SHOWN and told not in self.shown:
            self.shown.append(told)

    def told(self) -> str:
        """The counts in one line: ``27 records: 8 kept, 19 passed over (no title 19) ...``."""
        reasons = ", ".join(f"{why} {count:,}" for why, count in sorted(self.passed.items()))
        passed = f"{sum(self.passed.values()):,} passed over" + (f" ({reasons})" if reasons else "")
        return f"{self.read:,} records: {self.kept:,} kept, {passed}, {self.malformed:,} malformed"

    def as_json(self) -> dict[str, Any]:
        """The counts as plain data; ``Reading(**data)`` gives them back."""
        return asdict(self)
