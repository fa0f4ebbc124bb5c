"""Filters: which papers of a source an ecosystem keeps, each with the number removed.

The past is known only as of the boundary: its citation counts are those that papers before
the boundary gave. The contemporary papers keep the count of the day they were collected.
People are not filtered here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from agents.errors import InputError
from society.ecosystem.records import RawRecord

COLLECTED = (
    "citations of past papers are counts at collection time, which include citations made "
    "after the boundary: the source has no references to count"
)
COUNTED = "citations of past papers are counted from the references of papers before the boundary"
UNKNOWN = "citations of past papers are unknown: the source has neither references nor counts"


@dataclass(frozen=True)
class PaperFilters:
    """The filters on papers.

    Attributes:
        first_year: earlier papers are left out; they still count for people and citations.
        last_year: later papers are left out.
        require_abstract: papers without abstract are left out.
        min_citations_past: least citations at the boundary of a past paper.
        min_citations_contemporary: least citations at collection time of a contemporary one.
    """

    first_year: int | None = None
    last_year: int | None = None
    require_abstract: bool = True
    min_citations_past: int = 0
    min_citations_contemporary: int = 0


@dataclass
class Selection:
    """A source, sorted into what an ecosystem is made of.

    Attributes:
        known: every record before the boundary, with its citations as of the boundary.
        past: those of them that the filters keep.
        contemporary: the records of the boundary year and after that they keep.
        citations_are: one sentence on where the citation counts of the past come from.
        steps: what was done, in order: filter, papers in, papers removed.
    """

    known: list[RawRecord]
    past: list[RawRecord]
    contemporary: list[RawRecord]
    citations_are: str
    steps: list[dict[str, int | str]] = field(default_factory=list)


def select(records: Iterable[RawRecord], boundary: int, filters: PaperFilters) -> Selection:
    """Split a source at the boundary and apply the filters, past and contemporary apart."""
    steps: list[dict[str, int | str]] = []
    source = sorted(records, key=lambda record: (record.year, record.id))
    if not source:
        raise InputError("the source has no record; give one with papers")
    first, last = source[0].year, source[-1].year
    if not first < boundary <= last + 1:
        raise InputError(
            f"boundary {boundary} lies outside the data, whose years are {first} to {last}; "
            f"choose a boundary from {first + 1} to {last + 1}"
        )
    known, citations_are = _as_of_boundary([r for r in source if r.year < boundary])
    later = [record for record in source if record.year >= boundary]
    past = _filtered("past", known, filters, filters.min_citations_past, steps)
    least = filters.min_citations_contemporary
    contemporary = _filtered("contemporary", later, filters, least, steps)
    return Selection(known, past, contemporary, citations_are, steps)


def _as_of_boundary(known: Sequence[RawRecord]) -> tuple[list[RawRecord], str]:
    if any(record.references for record in known):
        received = Counter(
            cited
            for record in known
            for cited in dict.fromkeys(record.references)
            if cited != record.id
        )
        return [replace(r, citations=received[r.id]) for r in known], COUNTED
    counted = any(record.citations is not None for record in known)
    return list(known), COLLECTED if counted else UNKNOWN


def _filtered(
    side: str,
    records: Sequence[RawRecord],
    filters: PaperFilters,
    min_citations: int,
    steps: list[dict[str, int | str]],
) -> list[RawRecord]:
    rules: list[tuple[str, bool, Callable[[RawRecord], bool]]] = [
        (
            f"year range {filters.first_year or 'any'} to {filters.last_year or 'any'}",
            bool(filters.first_year or filters.last_year),
            lambda r: (filters.first_year or r.year) <= r.year <= (filters.last_year or r.year),
        ),
        ("abstract required", filters.require_abstract, lambda r: bool(r.abstract)),
        # An unknown count cannot be shown to reach the least one.
        (
            f"at least {min_citations} citations",
            min_citations > 0,
            lambda r: r.citations is not None and r.citations >= min_citations,
        ),
    ]
    kept = list(records)
    for name, applies, keeps in rules:
        before = len(kept)
        if applies:
            kept = [record for record in kept if keeps(record)]
        steps.append({"filter": f"{side}: {name}", "in": before, "removed": before - len(kept)})
    return kept
