"""Rewiring: networks in which everybody has as many co-authors, but other ones.

Two pairs swap partners (Maslov and Sneppen 2002): a-b and c-d become a-d and c-b, unless somebody
would be tied to itself or a pair twice. All pairs of the network are matched at random and
tried at once; what is proposed twice is not done at all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

Whole = NDArray[np.int64]

ROUNDS = 10
"""Times that every pair is tried."""
LATTICE_ROUNDS = 100
MANY_PAIRS = 50_000
"""A lattice is sought in 100 rounds, above so many pairs in 10."""


def rewired(matrix: sparse.csr_array, rng: np.random.Generator) -> sparse.csr_array:
    """A random network with the same degrees; weights become 1."""
    size = matrix.shape[0]
    pairs = _pairs(matrix)
    for _ in range(ROUNDS):
        pairs = _swapped(pairs, size, rng, None)
    return _matrix(pairs, size)


def latticed(matrix: sparse.csr_array, rng: np.random.Generator) -> sparse.csr_array:
    """A ring-like network with the same degrees (Sporns and Zwi 2004): near ones are tied.

    Nodes stand in a ring such that tied ones are near (Cuthill and McKee 1969), and a swap is
    made only if it brings the two pairs nearer together, around the ring.
    """
    size = matrix.shape[0]
    order = csgraph.reverse_cuthill_mckee(matrix.tocsr(), symmetric_mode=True)
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    pairs = place[_pairs(matrix)]
    for _ in range(ROUNDS if len(pairs) > MANY_PAIRS else LATTICE_ROUNDS):
        pairs = _swapped(pairs, size, rng, size)
    return _matrix(pairs, size)


def _swapped(pairs: Whole, size: int, rng: np.random.Generator, ring: int | None) -> Whole:
    """One round of swaps; on a ring only those that bring partners nearer."""
    half = len(pairs) // 2
    order = rng.permutation(len(pairs))
    one, other = order[:half], order[half : 2 * half]
    a, b = pairs[one].T
    turned = rng.random(half) < 0.5
    c = np.where(turned, pairs[other, 1], pairs[other, 0])
    d = np.where(turned, pairs[other, 0], pairs[other, 1])
    first, second = np.column_stack([a, d]), np.column_stack([c, b])
    fine = (a != d) & (c != b)
    if ring is not None:
        before = _apart(pairs[one], ring) + _apart(pairs[other], ring)
        fine &= _apart(first, ring) + _apart(second, ring) < before
    fine &= _free(np.concatenate([first, second]), _keys(pairs, size), size, np.tile(fine, 2))
    new = pairs.copy()
    new[one[fine]], new[other[fine]] = first[fine], second[fine]
    return new


def _free(proposed: Whole, held: Whole, size: int, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether both pairs of a swap are new: neither there already nor proposed twice."""
    keys = _keys(proposed, size)
    # Swaps that are out already must not take a place from others.
    keys = np.where(asked, keys, -1 - np.arange(len(keys)))
    new = ~taken(keys, held)
    half = len(keys) // 2
    return np.asarray(new[:half] & new[half:])


def taken(proposed: Whole, held: Whole) -> NDArray[np.bool_]:
    """Which of those proposed are held already, or are proposed more than once."""
    every = np.sort(np.concatenate([proposed, held]))
    twice = every[1:][every[1:] == every[:-1]]
    if not len(twice):
        return np.zeros(len(proposed), dtype=bool)
    places = np.minimum(np.searchsorted(twice, proposed), len(twice) - 1)
    return np.asarray(twice[places] == proposed)


def _keys(pairs: Whole, size: int) -> Whole:
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    return np.asarray(low * size + high, dtype=np.int64)


def _apart(pairs: Whole, ring: int) -> Whole:
    gap = np.abs(pairs[:, 0] - pairs[:, 1])
    return np.asarray(np.minimum(gap, ring - gap), dtype=np.int64)


def _pairs(matrix: sparse.csr_array) -> Whole:
    """Each tie once."""
    ends = sparse.triu(matrix, k=1).tocoo()
    return np.asarray(np.column_stack(ends.coords), dtype=np.int64)


def _matrix(pairs: Whole, size: int) -> sparse.csr_array:
    ones = np.ones(len(pairs))
    half = sparse.coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(size, size)).tocsr()
    return (half + half.T).tocsr()
