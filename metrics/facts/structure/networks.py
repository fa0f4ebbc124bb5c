"""Networks of co-authors as matrices, and what is measured of them."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from virsci_society.metrics.facts.tables import FactTables


def network(tables: FactTables, end: int | None = None) -> sparse.csr_array:
    """The symmetric matrix of ones of all pairs with a joint paper before a year, or at all.

    Its rows are the people who have written by then, in order of their numbers.
    """
    ties = tables.ties
    chosen = len(ties.first) if end is None else int(np.searchsorted(ties.first, end))
    last = len(tables.year_of_seat) if end is None else np.searchsorted(tables.year_of_seat, end)
    rows = np.full(tables.works.people, -1, dtype=np.int64)
    people = np.unique(tables.works.authors[:last])
    rows[people] = np.arange(len(people))
    one, other = rows[ties.one[:chosen]], rows[ties.other[:chosen]]
    ends = np.concatenate([one, other]), np.concatenate([other, one])
    matrix = sparse.coo_array((np.ones(2 * chosen), ends), (len(people), len(people)))
    return sparse.csr_array(matrix)


def giant_share(tables: FactTables) -> float:
    """Share of the people in the largest component."""
    matrix = network(tables)
    if not matrix.shape[0]:
        return math.nan
    _, component = csgraph.connected_components(matrix, directed=False)
    return float(np.bincount(component).max() / len(component))


def clustering(tables: FactTables) -> float:
    """Transitivity: three times the triangles over the connected triples; NaN without a triple."""
    matrix = network(tables)
    degree = np.diff(matrix.indptr)
    triples = float((degree * (degree - 1)).sum())
    closed = float((matrix @ matrix).multiply(matrix).sum())
    return closed / triples if triples else math.nan
