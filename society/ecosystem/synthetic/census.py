"""Authorships in columns of numbers, and the figures of all authors counted from them at once.

The figures are those that ``building.profiles`` makes scientist by scientist; here a million people
take seconds. Names are added last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from virsci_society.agents.arrays import IntArray

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy.sparse import csr_array


INTERESTS = 10
"""Most interests of a person."""
COLLABORATORS = 10
"""Most collaborators of a person."""


@dataclass(frozen=True, eq=False)
class AuthorshipCounts:
    """The authorships of a number of people, and figures counted from them.

    A seat is one person on one paper.

    Attributes:
        size: number of people, each with at least one seat.
        papers: the paper of each seat; ascending, papers are in order of date.
        people: the person of each seat, from 0; nobody twice on a paper.
    """

    size: int
    papers: IntArray
    people: IntArray

    def paper_counts(self) -> IntArray:
        """Number of papers, by person."""
        return np.bincount(self.people, minlength=self.size).astype(np.int64)

    def sum_over_papers(self, of_papers: IntArray) -> IntArray:
        """Sum of a figure over each person's papers, by person."""
        sums = np.bincount(self.people, of_papers[self.papers], self.size)
        return sums.astype(np.int64)

    def value_of_first_paper(self, of_papers: IntArray) -> IntArray:
        """A figure of each person's first paper, by person."""
        _, seats = np.unique(self.people, return_index=True)
        values: IntArray = of_papers[self.papers[seats]]
        return values

    def incidence(self, papers: int) -> csr_array:
        """A sparse matrix of ``papers`` papers by people, 1 where a person is an author."""
        from scipy.sparse import csr_array

        ones = np.ones(len(self.papers), dtype=np.int64)
        return csr_array((ones, (self.papers, self.people)), shape=(papers, self.size))

    def interests(self, terms: npt.NDArray[Any], words: pa.Array) -> pa.Array:
        """The most frequent terms of each person's papers; among equals the first to come.

        Args:
            terms: a row per paper, of different numbers into ``words``.
            words: the terms.

        Returns:
            A list of words per person, at most ``INTERESTS``.
        """
        each = terms.shape[1]
        keys = np.repeat(self.people, each) * len(words) + terms[self.papers].ravel()
        kinds, places, counts = np.unique(keys, return_index=True, return_counts=True)
        people = kinds // len(words)
        order = np.lexsort((places, -counts, people))
        return _lists(people[order], (kinds % len(words))[order], words, self.size, INTERESTS)


def collaborator_lists(joint: csr_array, names: pa.Array) -> pa.Array:
    """The names of the people with the most joint papers, for each person; among equals by name.

    Args:
        joint: joint papers of each two people.
        names: of all people.

    Returns:
        A list of names per person, at most ``COLLABORATORS``.
    """
    import pyarrow.compute as pc

    size = joint.shape[0]
    people = np.repeat(np.arange(size), np.diff(joint.indptr))
    by_name = np.empty(size, dtype=np.int64)
    by_name[pc.sort_indices(names).to_numpy()] = np.arange(size)
    order = np.lexsort((by_name[joint.indices], -joint.data, people))
    return _lists(people, joint.indices[order], names, size, COLLABORATORS)


def _lists(owners: IntArray, items: IntArray, words: pa.Array, size: int, most: int) -> pa.Array:
    """The first ``most`` items of each owner, as lists of words; owners are ascending."""
    import pyarrow as pa

    starts = np.searchsorted(owners, np.arange(size + 1))
    kept = np.arange(len(owners)) - starts[owners] < most
    offsets = np.concatenate([[0], np.cumsum(np.minimum(np.diff(starts), most))])
    return pa.LargeListArray.from_arrays(pa.array(offsets), words.take(pa.array(items[kept])))
