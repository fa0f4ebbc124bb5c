"""Random and lattice-like networks with the same degrees, by swapping the ends of edges.

Two pairs swap partners (Maslov and Sneppen 2002): a-b and c-d become a-d and c-b, unless somebody
would be tied to itself or a pair would be tied twice. All pairs of the network are matched at
random and tried at once; a pair that is proposed twice is not made.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from virsci_society.agents.arrays import BoolArray, IntArray

ROUNDS = 10
"""Times that every pair is tried."""
LATTICE_ROUNDS = 100
TRIES = 1_000
"""Ties that are drawn to be cut for two nodes that miss one, before a ring is given up."""
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
    order = sparse.csgraph.reverse_cuthill_mckee(matrix.tocsr(), symmetric_mode=True)
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    pairs = place[_pairs(matrix)]
    for _ in range(ROUNDS if len(pairs) > MANY_PAIRS else LATTICE_ROUNDS):
        pairs = _swap_round(pairs, size, rng, size)
    return _matrix(pairs, size)


def ring_lattice(matrix: sparse.csr_array, rng: np.random.Generator) -> sparse.csr_array | None:
    """A ring with the same degrees, in which each node is tied to its nearest neighbours.

    Nodes of like degree stand together in the ring: degrees rise along one half of it and fall
    along the other. Nodes that miss ties are tied to the next one in the ring that misses some,
    then to the next but one, and so on. Where only nodes that are tied already miss ties, another
    tie is cut and both its ends take one of them. If all degrees are equal, this is the ring
    lattice of Watts and Strogatz (1998).

    Args:
        matrix: symmetric, n x n, no diagonal.
        rng: draws the ties that are cut.

    Returns:
        The ring; None where no tie that can be cut was found.
    """
    degree = np.diff(matrix.indptr)
    order = np.argsort(degree, kind="stable")
    ring = np.concatenate([order[::2], order[1::2][::-1]])
    missing: list[int] = degree[ring].tolist()
    pairs: dict[tuple[int, int], None] = {}
    waiting, step = [place for place, ties in enumerate(missing) if ties], 1
    while step < len(waiting):
        for one, other in zip(waiting, [*waiting[step:], *waiting[:step]], strict=True):
            pair = min(one, other), max(one, other)
            if missing[one] and missing[other] and pair not in pairs:
                pairs[pair] = None
                missing[one] -= 1
                missing[other] -= 1
        waiting, step = [place for place in waiting if missing[place]], step + 1
    ends = [place for place in waiting for _ in range(missing[place])]
    if not _place_rest(pairs, ends, rng):
        return None
    return _matrix(ring[np.array(list(pairs), dtype=np.int64).reshape(-1, 2)], len(ring))


def _place_rest(
    pairs: dict[tuple[int, int], None], ends: list[int], rng: np.random.Generator
) -> bool:
    """Give a tie to each of these ends, by cutting one tie for two of them; False if none is found.

    Args:
        pairs: the ties, which are changed.
        ends: nodes that miss a tie, once for each; an even number.
        rng: draws the ties that are cut.
    """
    held = list(pairs)
    while ends:
        one, other = ends.pop(), ends.pop(0)
        for number in rng.integers(len(held), size=TRIES).tolist() if held else ():
            a, b = held[number]
            first, second = (min(one, a), max(one, a)), (min(other, b), max(other, b))
            loops = one == a or other == b or first == second
            if not loops and first not in pairs and second not in pairs:
                del pairs[a, b]
                pairs[first] = pairs[second] = None
                held[number] = first
                held.append(second)
                break
        else:
            return False
    return True


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
