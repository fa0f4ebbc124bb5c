"""Filters: which papers of a source an ecosystem keeps, each with the number removed.

The past is known only as of the boundary: its citation counts are those from before it, as far
as the source can tell. The contemporary papers keep the count of the day they were collected.
People are not filtered here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from society.ecosystem.outline import UNKNOWN, Mask, Numbers, Outline
from society.ecosystem.records import RawRecord

COUNTED = "citations of past papers are counted from the references of papers before the boundary"
BY_YEAR = (
    "citations of past papers are the source's counts per year, those from the boundary on left out"
)
COUNTED_BOTH_WAYS = (
    "citations of past papers are counted from the references of papers before the boundary or, "
    "where that is more, are the source's counts per year without those from the boundary on"
)
COLLECTED = (
    "citations of past papers are counts at collection time, which include citations made "
    "after the boundary: the source has no references to count"
)
NO_COUNTS = "citations of past papers are unknown: the source has neither references nor counts"

Step = dict[str, int | str]


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


@dataclass(frozen=True, eq=False)
class Selection:
    """What the filters keep of an outline, by row.

    Attributes:
        past: the papers before the boundary that are kept.
        contemporary: those of the boundary year and after that are kept.
        citations: of known papers as of the boundary, of others at collection time; -1 unknown.
        citations_are: one sentence on where the citation counts of the past come from.
        steps: what was done, in order: filter, papers in, papers removed.
        notes: what the filters could not tell.
    """

    past: Mask
    contemporary: Mask
    citations: Numbers
    citations_are: str
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def kept(self) -> Mask:
        """All papers that are kept."""
        kept: Mask = self.past | self.contemporary
        return kept


def select_papers(outline: Outline, filters: PaperFilters) -> Selection:
    """Split a source at the boundary and apply the filters, past and contemporary apart."""
    citations, citations_are = citations_at_boundary(outline)
    sides = {"past": outline.known, "contemporary": ~outline.known}
    least = {
        "past": filters.min_citations_past,
        "contemporary": filters.min_citations_contemporary,
    }
    steps: list[Step] = []
    notes: list[str] = []
    for side, papers in sides.items():
        for name, holds in _rules(outline, filters, citations, least[side]):
            left = papers & holds
            before, after = int(papers.sum()), int(left.sum())
            steps.append({"filter": f"{side}: {name}", "in": before, "removed": before - after})
            if "citations" in name and least[side] > 0:
                notes.extend(_unknown_note(side, int((papers & (citations < 0)).sum())))
            papers = left
        sides[side] = papers
    return Selection(sides["past"], sides["contemporary"], citations, citations_are, steps, notes)


def citations_at_boundary(outline: Outline) -> tuple[Numbers, str]:
    """Citations by row, of known papers as of the boundary, and where those come from.

    A source's counts per year tell the boundary's count only where they reach back to it.
    """
    by_year = _by_year(outline)
    known = outline.known
    if outline.referring and by_year is not None:
        at_boundary, sentence = np.maximum(outline.received, by_year), COUNTED_BOTH_WAYS
    elif outline.referring:
        at_boundary, sentence = outline.received, COUNTED
    elif by_year is not None:
        at_boundary, sentence = by_year, BY_YEAR
    else:
        at_boundary = outline.collected
        sentence = COLLECTED if bool((at_boundary[known] >= 0).any()) else NO_COUNTS
    return np.where(known, at_boundary, outline.collected), sentence


def _by_year(outline: Outline) -> Numbers | None:
    if outline.first_counted is None or outline.first_counted > outline.boundary:
        return None
    left = np.maximum(outline.collected - outline.later, 0)
    return np.where(outline.collected >= 0, left, UNKNOWN)


def _rules(
    outline: Outline, filters: PaperFilters, citations: Numbers, least: int
) -> list[tuple[str, Mask]]:
    everything = np.ones(len(outline), dtype=bool)
    first, last = filters.first_year, filters.last_year
    years = everything.copy()
    if first is not None:
        years &= outline.years >= first
    if last is not None:
        years &= outline.years <= last
    enough = everything if least <= 0 else citations >= least
    return [
        (f"year range {first or 'any'} to {last or 'any'}", years),
        ("abstract required", outline.abstracts if filters.require_abstract else everything),
        (f"at least {least} citations", enough),
    ]


def _unknown_note(side: str, unknown: int) -> list[str]:
    if not unknown:
        return []
    return [
        f"{unknown} {side} papers were left out by the least number of citations because "
        "theirs is unknown: an unknown count cannot be shown to reach it"
    ]


@dataclass
class Given:
    """Invented records that are all kept, for ``build.assemble``."""

    records: list[RawRecord]
    known: list[RawRecord]
    steps: list[Step] = field(default_factory=list)


def select(records: Iterable[RawRecord], boundary: int, filters: PaperFilters) -> Given:
    """The records of an invented community; every one of them passes the filters."""
    held = sorted(records, key=lambda record: (record.year, record.id))
    return Given(held, [record for record in held if record.year < boundary])
