"""Census: what papers tell of the people on them, counted for everybody at once.

The same figures as ``careers`` makes scientist by scientist, from columns of numbers instead
of records: a million people in seconds. It knows numbers only; names come last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa
    from scipy.sparse import csr_array

Numbers = npt.NDArray[np.int64]

INTERESTS = 10
COLLABORATORS = 10


@dataclass(frozen=True, eq=False)
class Census:
    """Papers in order of date, and who of ``size`` people has a seat on them.

    Attributes:
        size: number of people, each with at least one seat.
        papers: of each seat, the paper; ascending.
        people: of each seat, the person from 0; nobody twice on a paper.
    """

    size: int
    papers: Numbers
    people: Numbers

    def written(self) -> Numbers:
        """Numbers of papers, by person."""
        return np.bincount(self.people, minlength=self.size).astype(np.int64)

    def total(self, of_papers: Numbers) -> Numbers:
        """Sum of a figure over each person's papers."""
        sums = np.bincount(self.people, of_papers[self.papers], self.size)
        return sums.astype(np.int64)

    def first(self, of_papers: Numbers) -> Numbers:
        """A figure of each person's first paper."""
        _, seats = np.unique(self.people, return_index=True)
        found: Numbers = of_papers[self.papers[seats]]
        return found

    def incidence(self, papers: int) -> csr_array:
        """A sparse matrix of papers by people, 1 where one is on the other."""
        from scipy.sparse import csr_array

        ones = np.ones(len(self.papers), dtype=np.int64)
        return csr_array((ones, (self.papers, self.people)), shape=(papers, self.size))

    def interests(self, terms: npt.NDArray[Any], words: pa.Array) -> pa.Array:
        """The most frequent terms of each person's papers; among equals the first to come.

        Args:
            terms: a row per paper, of different numbers into ``words``.
            words: the terms.
        """
        each = terms.shape[1]
        keys = np.repeat(self.people, each) * len(words) + terms[self.papers].ravel()
        kinds, places, counts = np.unique(keys, return_index=True, return_counts=True)
        people = kinds // len(words)
        order = np.lexsort((places, -counts, people))
        return _lists(people[order], (kinds % len(words))[order], words, self.size, INTERESTS)


def collaborators(joint: csr_array, names: pa.Array) -> pa.Array:
    """Those with the most joint papers of each person; among equals by name."""
    import pyarrow.compute as pc

    size = joint.shape[0]
    people = np.repeat(np.arange(size), np.diff(joint.indptr))
    by_name = np.empty(size, dtype=np.int64)
    by_name[pc.sort_indices(names).to_numpy()] = np.arange(size)
    order = np.lexsort((by_name[joint.indices], -joint.data, people))
    return _lists(people, joint.indices[order], names, size, COLLABORATORS)


def _lists(owners: Numbers, items: Numbers, words: pa.Array, size: int, most: int) -> pa.Array:
    """The first ``most`` items of each owner, as lists of words; owners stand in order."""
    import pyarrow as pa

    starts = np.searchsorted(owners, np.arange(size + 1))
    kept = np.arange(len(owners)) - starts[owners] < most
    offsets = np.concatenate([[0], np.cumsum(np.minimum(np.diff(starts), most))])
    return pa.LargeListArray.from_arrays(pa.array(offsets), words.take(pa.array(items[kept])))
