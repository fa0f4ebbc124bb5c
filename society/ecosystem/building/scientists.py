"""Selection of the scientists of an ecosystem, and their co-author counts.

Scientists are selected on papers before the boundary only. Their topics and affiliations are read
in a later pass (see ``profiles``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from virsci_society.agents.arrays import BoolArray, IntArray
from virsci_society.society.ecosystem.building.build_options import CountOn, PeopleFilters
from virsci_society.society.ecosystem.building.filters import PaperSelection, Step
from virsci_society.society.ecosystem.building.outline import Outline

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BLOCK = 4096
"""People whose co-authors are counted together."""


def select_scientists(
    outline: Outline, selection: PaperSelection, filters: PeopleFilters
) -> tuple[IntArray, list[Step]]:
    """Select the scientists by the filters on people.

    Whatever the papers and co-authors are counted on, a scientist has at least one kept paper.

    Args:
        outline: of the source.
        selection: the papers that are kept.
        filters: the thresholds.

    Returns:
        Columns of ``outline.people``, ascending, and the filters with the numbers they removed.
    """
    counted = outline.people if filters.count_on == "all" else _rows(outline, selection.past)
    written = _sums(counted)
    left = np.arange(counted.shape[1])
    steps: list[Step] = []

    def keep(name: str, holds: BoolArray) -> IntArray:
        removed = int(len(left) - holds.sum())
        steps.append({"filter": f"people: {name}", "in": len(left), "removed": removed})
        return left[holds]

    left = keep("at least one kept past paper", _sums(_rows(outline, selection.past))[left] > 0)
    left = keep(f"at least {filters.min_papers} papers", written[left] >= filters.min_papers)
    enough = np.ones(len(left), dtype=bool)
    if filters.min_coauthors > 0:
        enough = count_coauthors(counted, left) >= filters.min_coauthors
    left = keep(f"at least {filters.min_coauthors} co-authors", enough)
    if filters.active_years is not None:
        since = outline.boundary - filters.active_years
        recent = _rows(outline, selection.past & (outline.years >= since))
        left = keep(f"a kept past paper from {since} on", _sums(recent)[left] > 0)
    return left, steps


def count_scientists(
    outline: Outline, selection: PaperSelection, filters: PeopleFilters
) -> dict[str, int]:
    """Count the scientists under either setting of ``count_on``, ``all`` and ``kept``.

    Args:
        outline: of the source.
        selection: the papers that are kept.
        filters: the thresholds; their ``count_on`` does not matter.
    """
    ways: tuple[CountOn, ...] = ("all", "kept")
    return {
        way: len(select_scientists(outline, selection, replace(filters, count_on=way))[0])
        for way in ways
    }


def count_coauthors(people: csr_array, columns: IntArray) -> IntArray:
    """Count the different co-authors of each of some people.

    Args:
        people: sparse matrix of papers by people.
        columns: the people.
    """
    by_author = people.T.tocsr()
    numbers = np.zeros(len(columns), dtype=np.int64)
    for start in range(0, len(columns), BLOCK):
        some = columns[start : start + BLOCK]
        # The product counts everybody as an own co-author, hence the one less.
        together = by_author[some] @ people
        numbers[start : start + BLOCK] = np.maximum(np.diff(together.indptr) - 1, 0)
    return numbers


def count_joint_papers(people: csr_array, columns: Sequence[int] | IntArray) -> csr_array:
    """Count the papers that each two of some people wrote together.

    Args:
        people: sparse matrix of papers by people.
        columns: the people, in the order of the result.

    Returns:
        A symmetric int64 matrix with zero diagonal.
    """
    from scipy.sparse import csr_array

    of_each = people.T.tocsr()[np.asarray(columns, dtype=np.int64)].astype(np.int64)
    counts = (of_each @ of_each.T).tocoo()
    apart = counts.row != counts.col
    pairs = (counts.row[apart], counts.col[apart])
    joint = csr_array((counts.data[apart], pairs), shape=counts.shape)
    joint.sort_indices()
    return joint


def shuffled_numbers(count: int, seed: int) -> IntArray:
    """Random distinct numbers below ``count``, so that a masked name reveals nothing about a name.

    Args:
        count: number of people.
        seed: of the ecosystem.
    """
    order = np.random.default_rng([seed % 2**64, count]).permutation(count)
    numbers = np.empty(count, dtype=np.int64)
    numbers[order] = np.arange(count)
    return numbers


def _rows(outline: Outline, papers: BoolArray) -> Any:
    return outline.people[np.flatnonzero(papers)]


def _sums(people: csr_array) -> IntArray:
    return np.bincount(people.indices, minlength=people.shape[1]).astype(np.int64)
