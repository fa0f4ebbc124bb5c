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
        key: the key by which pages name the paper, ``P`` and its place in order of publication
            from 1; the same in every prompt of a run. Empty: the paper has none.
        authors: masked names of the first few of its authors who were scientists of the society on
            the date of the search, in author order; nobody else is named.

    Example:
        >>> hit = vs.Reference("p7", "Networks", "Who knows whom.", 2009, distance=0.4, key="P3")
        >>> f"[{hit.key}] {hit.title} ({hit.year})"
        '[P3] Networks (2009)'
    """

    id: str
    title: str
    abstract: str
    year: int
    keywords: tuple[str, ...] = ()
    distance: float = 0.0
    key: str = ""
    authors: tuple[str, ...] = ()
