"""The papers that a calibration may use, with numbers for their authors.

Nothing that is dated later than the last year that is used leaves a trace here: people are numbered
in order of their first paper, and no count of what was left out is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.calibration.calibration_file import Window
from virsci_society.society.literature.authorships import Authorships
from virsci_society.society.literature.papers import DAYS_PER_YEAR

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

DatedTeam = tuple[int, str, Sequence[str]]
"""Year, id and authors of a paper."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """Papers in order of year and id, dated in days since 1 January of an origin year.

    Attributes:
        works: the papers.
        origin: the year whose 1 January is day 0; every window counts from it.
    """

    works: Authorships
    origin: int

    @property
    def first_year(self) -> int:
        """The year of the first paper."""
        return self.origin + round(float(self.works.dates[0]) / DAYS_PER_YEAR)

    @property
    def last_year(self) -> int:
        """The year of the last paper."""
        return self.origin + round(float(self.works.dates[-1]) / DAYS_PER_YEAR)

    def day(self, year: int) -> float:
        """The day of 1 January of a year."""
        return (year - self.origin) * DAYS_PER_YEAR

    def before(self, year: int) -> Authorships:
        """The papers before a year, by people who have one: numbers of later people are unused."""
        early = self.works.between(-np.inf, self.day(year))
        people = int(early.authors.max(initial=-1)) + 1
        return replace(early, people=people)

    def inside(self, window: Window) -> Authorships:
        """The papers of a window."""
        return self.works.between(self.day(window.first), self.day(window.last + 1))

    def digest(self, first: int | None, end: int) -> str:
        """sha256 of the papers from a year on (None: from the first) and before another one."""
        part = self.works.between(-np.inf if first is None else self.day(first), self.day(end))
        hasher = hashlib.sha256(f"{self.origin}\n".encode())
        # Whole numbers in one order of bytes: the digest is the same on every machine.
        for numbers in (part.dates / DAYS_PER_YEAR, part.starts, part.authors):
            hasher.update(np.asarray(np.round(numbers), dtype="<i8").tobytes())
        return hasher.hexdigest()


def make_corpus(papers: Iterable[DatedTeam], end: int, where: str) -> Corpus:
    """The corpus of the papers before a year.

    Args:
        papers: in any order; those without an author are left out.
        end: the first year that is left out; its 1 January is day 0.
        where: stands for the source in messages.

    Raises:
        InputError: no paper is left.
    """
    # By year and id: sources list papers in any order. An author named twice is one.
    kept = sorted(
        (year, paper, tuple(dict.fromkeys(authors)))
        for year, paper, authors in papers
        if year < end and authors
    )
    if not kept:
        raise InputError(f"{where}: holds no paper with an author before {end}")
    numbers: dict[str, int] = {}
    dated = [
        ((year - end) * DAYS_PER_YEAR, [numbers.setdefault(one, len(numbers)) for one in authors])
        for year, _, authors in kept
    ]
    return Corpus(Authorships.of(dated, len(numbers)), end)


def read_source(kind: str, paths: Sequence[Path], end: int) -> Corpus:
    """The corpus of a source's papers before a year.

    Args:
        kind: of source, such as ``jsonl``.
        paths: its files.
        end: the first year that is left out.

    Raises:
        InputError: the source cannot be read, or has no such paper.
    """
    from virsci_society.society.ecosystem.importers.source import open_source

    records = open_source(kind, list(paths))
    return make_corpus(
        ((one.year, one.id, [author.id for author in one.authors]) for one in records),
        end,
        ", ".join(path.name for path in paths),
    )


def ecosystem_corpus(ecosystem: Ecosystem, end: int, *, later: bool = False) -> Corpus:
    """The corpus of an ecosystem's papers before a year.

    Args:
        ecosystem: its papers before the boundary are taken.
        end: the first year that is left out.
        later: whether those after the boundary are taken as well.
    """
    parts = [ecosystem.past, *([ecosystem.contemporary] if later else [])]
    rows = []
    for part in parts:
        table = part.table.select(["year", "id", "authors"])
        columns = (table[name].to_pylist() for name in ("year", "id", "authors"))
        rows += list(zip(*columns, strict=True))
    return make_corpus(rows, end, "the ecosystem")
