"""Figures of scientists, counted again from papers before the boundary in plain steps.

The module shares no code with the build, so that a mistake of the build is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from virsci_society.society.ecosystem.ecosystem import Ecosystem

LONGEST = 10
"""Most interests and collaborators in a profile."""


@dataclass
class RecountedScientist:
    """The recounted figures of one scientist before the boundary.

    Attributes:
        papers: number of papers.
        first_year: year of the first paper; None without any.
        citations: of the papers whose count is known; None where none is.
        terms: papers per term, in the order of the first.
        ties: joint papers with each other scientist.
    """

    papers: int = 0
    first_year: int | None = None
    citations: int | None = None
    terms: Counter[str] = field(default_factory=Counter)
    ties: Counter[int] = field(default_factory=Counter)

    @property
    def interests(self) -> list[str]:
        """The most frequent terms; among equals the one that came first."""
        return [term for term, _ in self.terms.most_common(LONGEST)]

    def collaborators(self, names: Sequence[str]) -> list[str]:
        """The scientists with the most joint papers; among equals by name."""
        ranked = sorted(self.ties, key=lambda other: (-self.ties[other], names[other]))
        return [names[other] for other in ranked[:LONGEST]]


def recount(
    rows: Iterable[dict[str, Any]], boundary: int, scientists: int
) -> list[RecountedScientist]:
    """Count the figures of scientists from the rows of an evidence.

    Args:
        rows: of an evidence; those of the boundary year and after are left out.
        boundary: the year in which the society starts.
        scientists: size of the population.

    Returns:
        One record per scientist.
    """
    records = [RecountedScientist() for _ in range(scientists)]
    early = (row for row in rows if row["year"] < boundary)
    for row in sorted(early, key=lambda row: (row["year"], row["id"])):
        on_it = [one for one in row["scientists"] if 0 <= one < scientists]
        for one in on_it:
            _add(records[one], row)
        for one, other in combinations(on_it, 2):
            records[one].ties[other] += 1
            records[other].ties[one] += 1
    return records


def evidence_from_papers(ecosystem: Ecosystem) -> pa.Table:
    """Make an evidence from an ecosystem's own past papers, where its folder has none.

    Terms are known of papers with keywords only.
    """
    import pyarrow as pa

    from virsci_society.society.ecosystem.building.evidence import schema

    number_of = {name: row for row, name in enumerate(profile.id for profile in ecosystem.profiles)}
    citing: dict[str, list[int]] = {paper.id: [] for paper in ecosystem.past}
    for paper in ecosystem.past:
        for cited in dict.fromkeys(paper.references):
            if cited in citing and cited != paper.id:
                citing[cited].append(paper.year)
    rows = [
        {
            "id": paper.id,
            "year": paper.year,
            "kept": True,
            "scientists": [number_of[name] for name in paper.authors if name in number_of],
            "terms": list(dict.fromkeys(keyword.lower() for keyword in paper.keywords)),
            "citations": paper.citations,
            "cited": citing[paper.id],
        }
        for paper in ecosystem.past
    ]
    return pa.Table.from_pylist(rows, schema=schema())


def _add(record: RecountedScientist, row: dict[str, Any]) -> None:
    record.papers += 1
    record.first_year = row["year"] if record.first_year is None else record.first_year
    if row["citations"] is not None:
        record.citations = row["citations"] + (record.citations or 0)
    record.terms.update(dict.fromkeys(row["terms"], 1))
