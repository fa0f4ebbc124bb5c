"""A published paper as it stands in a prompt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reference:
    """One hit of a literature search.

    Attributes:
        id: the paper's id.
        title: its title.
        abstract: its abstract; may be empty.
        year: calendar year of publication.
        keywords: its keywords, possibly none.
        distance: Euclidean distance of the paper's vector to the query's (>= 0).
        authors: masked names of the first few of its authors who were scientists of the society on
            the date of the search, in author order; nobody else is named.
    """

    id: str
    title: str
    abstract: str
    year: int
    keywords: tuple[str, ...] = ()
    distance: float = 0.0
    authors: tuple[str, ...] = ()
