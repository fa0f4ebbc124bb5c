"""Population: who an ecosystem's scientists are, decided on papers before the boundary only.

Who counts as a scientist, masked names and co-author counts. What is known of each scientist
is read in another pass (see ``careers``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from society.ecosystem.filters import Selection, Step
from society.ecosystem.outline import Mask, Numbers, Outline
from society.ecosystem.records import RawRecord

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CountOn = Literal["all", "kept"]
BLOCK = 4096


@dataclass(frozen=True)
class PeopleFilters:
    """The filters on people.

    Attributes:
        min_papers: least papers before the boundary.
        min_coauthors: least different co-authors on them.
        count_on: ``all``: both are counted on all the source's papers before the boundary,
            whatever the filters on papers left out; ``kept``: on the kept ones only.
    """

    min_papers: int = 1
    min_coauthors: int = 0
    count_on: CountOn = "all"


class Careers:
    """The papers of everybody among some records, by author."""

    def __init__(self, known: Sequence[RawRecord]) -> None:
        self.papers: dict[str, list[RawRecord]] = defaultdict(list)
        for record in known:
            for author in record.authors:
                self.papers[author.id].append(record)


def choose(
    outline: Outline, selection: Selection, filters: PeopleFilters
) -> tuple[Numbers, list[Step]]:
    """The scientists as columns of ``outline.people``, and what each filter removed.

    Whatever the papers and co-authors are counted on, a scientist has at least one kept paper.
    """
    counted = outline.people if filters.count_on == "all" else _rows(outline, selection.past)
    written = _sums(counted)
    left = np.arange(counted.shape[1])
    steps: list[Step] = []

    def keep(name: str, holds: Mask) -> Numbers:
        removed = int(len(left) - holds.sum())
        steps.append({"filter": f"people: {name}", "in": len(left), "removed": removed})
        return left[holds]

    left = keep("at least one kept past paper", _sums(_rows(outline, selection.past))[left] > 0)
    left = keep(f"at least {filters.min_papers} papers", written[left] >= filters.min_papers)
    enough = np.ones(len(left), dtype=bool)
    if filters.min_coauthors > 0:
        enough = coauthor_numbers(counted, left) >= filters.min_coauthors
    left = keep(f"at least {filters.min_coauthors} co-authors", enough)
    return left, steps


def heads(outline: Outline, selection: Selection, filters: PeopleFilters) -> dict[str, int]:
    """How many scientists there are by either way of counting: ``all`` and ``kept``."""
    ways: tuple[CountOn, ...] = ("all", "kept")
    least = (filters.min_papers, filters.min_coauthors)
    return {way: len(choose(outline, selection, PeopleFilters(*least, way))[0]) for way in ways}


def coauthor_numbers(people: csr_array, columns: Numbers) -> Numbers:
    """How many different co-authors each of these people has."""
    by_author = people.T.tocsr()
    numbers = np.zeros(len(columns), dtype=np.int64)
    for start in range(0, len(columns), BLOCK):
        some = columns[start : start + BLOCK]
        # Everybody stands on an own paper, hence the one that is taken off.
        together = by_author[some] @ people
        numbers[start : start + BLOCK] = np.maximum(np.diff(together.indptr) - 1, 0)
    return numbers


def joint_papers(people: csr_array, columns: Sequence[int] | Numbers) -> csr_array:
    """Papers that each two of these people wrote together: symmetric, zero diagonal, int64."""
    from scipy.sparse import csr_array

    of_each = people.T.tocsr()[np.asarray(columns, dtype=np.int64)].astype(np.int64)
    counts = (of_each @ of_each.T).tocoo()
    apart = counts.row != counts.col
    pairs = (counts.row[apart], counts.col[apart])
    joint = csr_array((counts.data[apart], pairs), shape=counts.shape)
    joint.sort_indices()
    return joint


def shuffled(count: int, seed: int) -> Numbers:
    """A number for each of ``count`` people, so that it tells nothing of a name."""
    order = np.random.default_rng([seed % 2**64, count]).permutation(count)
    numbers = np.empty(count, dtype=np.int64)
    numbers[order] = np.arange(count)
    return numbers


def _rows(outline: Outline, papers: Mask) -> Any:
    return outline.people[np.flatnonzero(papers)]


def _sums(people: csr_array) -> Numbers:
    return np.bincount(people.indices, minlength=people.shape[1]).astype(np.int64)
