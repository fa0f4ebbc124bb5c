"""Papers of a run or of a real field in the form in which every fact is measured."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import BoolArray, IntArray
from virsci_society.metrics.teams.peer_review import panels
from virsci_society.metrics.validation.assembly_measures import pair_keys, pair_positions
from virsci_society.metrics.validation.dated_papers import real_papers, simulated_papers
from virsci_society.society.literature.authorships import Authorships
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import TABLES

WINDOW = 5
"""Years of the windows in which networks of co-authors are published."""


class FactPaper(NamedTuple):
    """One paper; ``year`` counts from the boundary, authors are in author order."""

    year: int
    id: str
    authors: tuple[str, ...]
    topics: tuple[str, ...] = ()
    references: tuple[str, ...] = ()


class Ties(NamedTuple):
    """Pairs of people, by year of the ``first`` joint paper; ``papers`` counts joint papers."""

    one: IntArray
    other: IntArray
    first: IntArray
    papers: IntArray


@dataclass(frozen=True, eq=False)
class FactTables:
    """The tables of one run, field or null."""

    name: str
    years: int
    works: Authorships
    wrote_before: BoolArray
    references: IntArray | None = None
    """Citing paper and cited one, m x 2; from ``len(works)`` on they are of other papers."""
    topics: tuple[tuple[str, ...], ...] | None = None
    further: Mapping[str, pd.DataFrame] = field(default_factory=dict, repr=False)
    cited: Sequence[str] = field(default=(), repr=False)

    def lacks(self, needed: Iterable[str]) -> list[str]:
        """The needed tables that are missing or have no row."""
        own = {"references": self.references, "topics": self.topics}
        return [
            name
            for name in needed
            if (own[name] is None if name in own else not len(self.further.get(name, ())))
        ]

    @cached_property
    def year(self) -> IntArray:
        """The year of each paper, from 0."""
        return np.round(self.works.dates / DAYS_PER_YEAR).astype(np.int64)

    @cached_property
    def paper_of_seat(self) -> IntArray:
        """The paper of each authorship."""
        return np.repeat(np.arange(len(self.works), dtype=np.int64), self.works.sizes)

    @cached_property
    def year_of_seat(self) -> IntArray:
        """The year of each authorship."""
        return self.year[self.paper_of_seat]

    @cached_property
    def written(self) -> IntArray:
        """The papers of each person; 0 for those without."""
        return np.bincount(self.works.authors, minlength=self.works.people)

    @cached_property
    def links(self) -> tuple[IntArray, IntArray]:
        """The key (``pair_keys``) and the year of every pair of authors of every paper, by year."""
        left, right = pair_positions(self.works.sizes)
        one, other = self.works.authors[left], self.works.authors[right]
        apart = one != other
        return pair_keys(one[apart], other[apart]), self.year_of_seat[left][apart]

    @cached_property
    def ties(self) -> Ties:
        """All pairs with a joint paper."""
        keys, year = self.links
        pairs, first, papers = np.unique(keys, return_index=True, return_counts=True)
        order = np.argsort(year[first], kind="stable")
        pairs = pairs[order]
        return Ties(pairs >> 32, pairs & (2**32 - 1), year[first[order]], papers[order])

    def between(self, first: int, end: int) -> FactTables:
        """The papers from one year on and before another, as if there were no others."""
        works = self.works.between(first * DAYS_PER_YEAR, end * DAYS_PER_YEAR)
        works = works.counted_from(first * DAYS_PER_YEAR)
        earlier = self.works.between(-np.inf, first * DAYS_PER_YEAR).authors
        wrote = self.wrote_before.copy()
        wrote[earlier] = True
        return FactTables(self.name, end - first, works, wrote)


def make_tables(
    name: str,
    years: int,
    papers: Iterable[FactPaper],
    wrote: Collection[str] = frozenset(),
    further: Mapping[str, pd.DataFrame] | None = None,
) -> FactTables:
    """The tables of some papers; those without an author or from year ``years`` on are left out."""
    # By year and id, for a run as for a field: within a year nothing is known of the order.
    kept = sorted(one for one in papers if one.authors and 0 <= one.year < years)
    numbers: dict[str, int] = {}
    dated = [
        (one.year * DAYS_PER_YEAR, [numbers.setdefault(who, len(numbers)) for who in authors])
        for one in kept
        for authors in [dict.fromkeys(one.authors)]
    ]
    known = np.array([who in wrote for who in numbers], dtype=bool)
    topics = tuple(one.topics for one in kept)
    cited = {one.id: place for place, one in enumerate(kept)}
    pairs = [
        (place, cited.setdefault(other, len(cited)))
        for place, one in enumerate(kept)
        for other in dict.fromkeys(one.references)
        if other != one.id
    ]
    references = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return FactTables(
        name,
        years,
        Authorships.of(dated, len(numbers)),
        known,
        references if len(references) else None,
        topics if any(topics) else None,
        further or {},
        list(cited),
    )


def run_tables(run: Run, wrote: Collection[str] | None = None) -> FactTables:
    """The tables of a run."""
    if wrote is None:
        people = run.table("scientists")
        wrote = frozenset(people.loc[people["papers"].fillna(0) > 0, "scientist"])
    listed = run.table("papers").dropna(subset=["published"]).sort_values(["published", "paper"])
    cites: dict[str, list[str]] = {}
    table = run.table("citations")
    for citing, cited in zip(table["citing"], table["cited"], strict=True):
        cites.setdefault(citing, []).append(cited)
    papers = [
        FactPaper(
            int(one.date // DAYS_PER_YEAR),
            name,
            one.authors,
            one.keywords,
            tuple(cites.get(name, ())),
        )
        for name, one in zip(listed["paper"], simulated_papers(run), strict=True)
    ]
    further = _RunTables(run)
    return make_tables(run.name, max(1, int(run.days // DAYS_PER_YEAR)), papers, wrote, further)


class _RunTables(Mapping[str, pd.DataFrame]):
    """The tables and metrics of a run, each read on first use."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name == "panels":
            return self._run.metric(panels).dropna(subset=["decision"])
        if name not in TABLES:
            raise KeyError(name)
        return self._run.table(name)

    def __iter__(self) -> Iterator[str]:
        return iter((*TABLES, "panels"))

    def __len__(self) -> int:
        return len(TABLES) + 1


def field_tables(
    name: str, later: Papers, wrote: Collection[str] = frozenset(), most: int = 0
) -> FactTables:
    """The tables of a real field."""
    years = int(later.dates.max() // DAYS_PER_YEAR) + 1 if len(later) else 1
    ids, references = (later.table[column].to_pylist() for column in ("id", "references"))
    papers = [
        FactPaper(
            int(one.date // DAYS_PER_YEAR), paper, one.authors, one.keywords, tuple(cited or ())
        )
        for paper, cited, one in zip(ids, references, real_papers(later), strict=True)
    ]
    return make_tables(name, min(years, most) if most else years, papers, wrote)


def mean_over_windows(tables: FactTables, measure: Callable[[FactTables], float | None]) -> float:
    """The mean of a measure over the windows of five years that follow each other."""
    starts = range(0, tables.years - WINDOW + 1, WINDOW)
    values = [measure(tables.between(start, start + WINDOW)) for start in starts]
    return float(np.mean(np.array(values, dtype=np.float64))) if values else np.nan
