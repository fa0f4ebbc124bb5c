"""Raw records, the papers of a source before any filter and any masked name.

Every importer yields these; no other code knows a source's own format.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RawAuthor:
    """One author of a record.

    Attributes:
        id: the source's id; ``name:`` and the normalised name where it has none.
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
        title: never empty.
        abstract: possibly empty.
        year: calendar year of publication.
        authors: in author order, nobody twice.
        references: ids of cited papers, in the source or not.
        keywords: possibly none.
        venue: possibly empty.
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
