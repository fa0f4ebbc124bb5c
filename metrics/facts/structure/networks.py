"""The network of co-authors of some years as a matrix."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from virsci_society.agents.arrays import IntArray
from virsci_society.metrics.facts.tables import FactTables


def people_before(tables: FactTables, end: int) -> IntArray:
    """Numbers of those who have written before a year, ascending."""
    seats = np.searchsorted(tables.year_of_seat, end)
    people: IntArray = np.unique(tables.works.authors[:seats])
    return people


def network(tables: FactTables, end: int) -> sparse.csr_array:
    """The symmetric matrix of ones of all pairs with a joint paper before a year.

    Its rows are the people who have written by then, in order of their numbers.
    """
    ties = tables.ties
    chosen = int(np.searchsorted(ties.first, end))
    rows = np.full(tables.works.people, -1, dtype=np.int64)
    people = people_before(tables, end)
    rows[people] = np.arange(len(people))
    one, other = rows[ties.one[:chosen]], rows[ties.other[:chosen]]
    ends = np.concatenate([one, other]), np.concatenate([other, one])
    matrix = sparse.coo_array((np.ones(2 * chosen), ends), (len(people), len(people)))
    return sparse.csr_array(matrix)
