"""Random and lattice-like networks with the same degrees, by swapping the ends of edges.

Two pairs swap partners (Maslov and Sneppen 2002): a-b and c-d become a-d and c-b, unless somebody
would be tied to itself or a pair would be tied twice. All pairs of the network are matched at
random and tried at once; a pair that is proposed twice is not made.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from agents.arrays import BoolArray, IntArray

ROUNDS = 10
"""Times that every pair is tried."""
LATTICE_ROUNDS = 100
MANY_PAIRS = 50_000
"""A lattice is sought in 100 rounds, above so many pairs in 10."""


def rewire(matrix: sparse.csr_array, rng: np.random.Generator) -> sparse.csr_array:
    """A random network with the same degrees; weights become 1.

    Args:
        matrix: symmetric, n x n, no diagonal.
        rng: draws the swaps.
    """
    size = matrix.shape[0]
    pairs = _pairs(matrix)
    for _ in range(ROUNDS):
        pairs = _swap_round(pairs, size, rng, None)
    return _matrix(pairs, size)


def latticise(matrix: sparse.csr_array, rng: np.random.Generator) -> sparse.csr_array:
    """A lattice-like network with the same degrees, in which ties join near nodes of a ring.

    Nodes stand in the ring such that tied ones are near (Cuthill and McKee 1969). A swap is made
    only if it brings the two pairs nearer together, around the ring.

    Args:
        matrix: symmetric, n x n, no diagonal.
        rng: draws the swaps.

    Source:
        Sporns, O. and Zwi, J. D. (2004). The small world of the cerebral cortex.
        Neuroinformatics 2.
    """
    size = matrix.shape[0]
    order = csgraph.reverse_cuthill_mckee(matrix.tocsr(), symmetric_mode=True)
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    pairs = place[_pairs(matrix)]
    for _ in range(ROUNDS if len(pairs) > MANY_PAIRS else LATTICE_ROUNDS):
        pairs = _swap_round(pairs, size, rng, size)
    return _matrix(pairs, size)


def _swap_round(pairs: IntArray, size: int, rng: np.random.Generator, ring: int | None) -> IntArray:
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
        before = _ring_distance(pairs[one], ring) + _ring_distance(pairs[other], ring)
        fine &= _ring_distance(first, ring) + _ring_distance(second, ring) < before
    fine &= _free(np.concatenate([first, second]), _keys(pairs, size), size, np.tile(fine, 2))
    new = pairs.copy()
    new[one[fine]], new[other[fine]] = first[fine], second[fine]
    return new


def _free(proposed: IntArray, held: IntArray, size: int, asked: BoolArray) -> BoolArray:
    """Whether both pairs of a swap are new: neither there already nor proposed twice."""
    keys = _keys(proposed, size)
    # Swaps that are out already must not take a place from others.
    keys = np.where(asked, keys, -1 - np.arange(len(keys)))
    new = ~collisions(keys, held)
    half = len(keys) // 2
    return np.asarray(new[:half] & new[half:])


def collisions(proposed: IntArray, held: IntArray) -> BoolArray:
    """For each proposed key, whether it is held already or proposed more than once.

    Args:
        proposed: keys of proposed pairs.
        held: keys of the pairs that exist.
    """
    every = np.sort(np.concatenate([proposed, held]))
    twice = every[1:][every[1:] == every[:-1]]
    if not len(twice):
        return np.zeros(len(proposed), dtype=bool)
    places = np.minimum(np.searchsorted(twice, proposed), len(twice) - 1)
    return np.asarray(twice[places] == proposed)


def _keys(pairs: IntArray, size: int) -> IntArray:
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    return np.asarray(low * size + high, dtype=np.int64)


def _ring_distance(pairs: IntArray, ring: int) -> IntArray:
    gap = np.abs(pairs[:, 0] - pairs[:, 1])
    return np.asarray(np.minimum(gap, ring - gap), dtype=np.int64)


def _pairs(matrix: sparse.csr_array) -> IntArray:
    """Each tie once."""
    ends = sparse.triu(matrix, k=1).tocoo()
    return np.asarray(np.column_stack(ends.coords), dtype=np.int64)


def _matrix(pairs: IntArray, size: int) -> sparse.csr_array:
    ones = np.ones(len(pairs))
    half = sparse.coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(size, size)).tocsr()
    return (half + half.T).tocsr()
