"""Paper: one published piece of work, of the past or of the society."""

from __future__ import annotations

from dataclasses import dataclass

DAYS_PER_YEAR = 365.0


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper with its simulated date.

    Attributes:
        id: unique; the society's own papers have the id of their team.
        title: never empty.
        abstract: may be empty in an ecosystem, never in a society's paper.
        date: publication date in days since 1 January of the boundary year; past papers have
            negative dates (1 January of their year), the society's own positive ones.
        year: calendar year.
        authors: scientist ids in author order (people outside the population included).
        references: ids of cited papers.
        keywords: possibly none.
        venue: possibly empty.
        citations: citation count at collection time; None where the source knows none.
    """

    id: str
    title: str
    abstract: str
    date: float
    year: int
    authors: tuple[str, ...]
    references: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    venue: str = ""
    citations: int | None = None
