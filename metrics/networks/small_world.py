"""Small-world coefficients sigma and omega, and the mean shortest path they need.

Paths are counted by breadth-first searches from 64 nodes at once (Then et al. 2014): each node
holds one bit per source, and in every step it passes on the bits that have reached it. So 64
searches cost about as much as one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import sparse

from virsci_society.agents.arrays import BoolArray, IntArray
from virsci_society.metrics.networks.structure import (
    final_networks,
    network_statistics,
)
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

ROUNDS = 10
"""Times that every pair is tried."""
LATTICE_ROUNDS = 100
TRIES = 1_000
"""Ties that are drawn to be cut for two nodes that miss one, before a ring is given up."""
MANY_PAIRS = 50_000
"""A lattice is sought in 100 rounds, above so many pairs in 10."""


def rewire(matrix: sparse.csr_array, rng: np.random.Generator) -> sparse.csr_array:
    """A random network with the same degrees; weights become 1."""
    size = matrix.shape[0]
    pairs = _pairs(matrix)
    for _ in range(ROUNDS):
        pairs = _swap_round(pairs, size, rng, None)
    return _matrix(pairs, size)


def latticise(matrix: sparse.csr_array, rng: np.random.Generator) -> sparse.csr_array:
    """A lattice-like network with the same degrees, in which ties join near nodes of a ring.

    Nodes stand in the ring such that tied ones are near (Cuthill and McKee 1969). A swap is made
    only if it brings the two pairs nearer together, around the ring.

    Source:
        Sporns, O. and Zwi, J. D. (2004). The small world of the cerebral cortex.
        Neuroinformatics 2.
    """
    size = matrix.shape[0]
    order = sparse.csgraph.reverse_cuthill_mckee(matrix.tocsr(), symmetric_mode=True)
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    # Nodes are renamed by their place in the ring, so that distances are differences.
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

    Returns:
        The ring; None where no tie that can be cut was found.
    """
    degree = np.diff(matrix.indptr)
    order = np.argsort(degree, kind="stable")
    ring = np.concatenate([order[::2], order[1::2][::-1]])
    missing: list[int] = degree[ring].tolist()
    # In the order in which ties are made: by their place some are drawn to be cut.
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
        # From both ends of the list, in which one node may stand several times in a row.
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
    # Each pair is in at most one swap of a round, so that all swaps can be made at once.
    half = len(pairs) // 2
    order = rng.permutation(len(pairs))
    one, other = order[:half], order[half : 2 * half]
    a, b = pairs[one].T
    # Which ends are exchanged is drawn too, since pairs begin with the smaller end.
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
    """For each proposed key, whether it is held already or proposed more than once."""
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


EXACT = 1024
"""Up to so many scientists every one is a source; above that a seeded sample is."""
SOURCES = 256
"""Sources in a sample."""
BITS = 64


def largest_component(matrix: sparse.csr_array) -> sparse.csr_array:
    """The largest component of a network; of several as large, that of the first node."""
    _, label = sparse.csgraph.connected_components(matrix, directed=False)
    if not len(label):
        return matrix
    inside = np.flatnonzero(label == np.bincount(label).argmax())
    return matrix[inside][:, inside].tocsr()


def mean_path(matrix: sparse.csr_array, rng: np.random.Generator) -> float:
    """Mean number of steps between two nodes of a connected network; NaN below two nodes.

    Args:
        matrix: symmetric, one component, no diagonal.
        rng: draws the sources where there are more than 1,024 nodes; the standard error over
            256 of them is below 1 % of the mean in the networks of the tests.
    """
    nodes = matrix.shape[0]
    if nodes < 2:
        return float("nan")
    sources = np.arange(nodes)
    if nodes > EXACT:
        sources = np.sort(rng.choice(nodes, SOURCES, replace=False))
    parts = [sources[first : first + BITS] for first in range(0, len(sources), BITS)]
    steps = sum(_steps(matrix, part) for part in parts)
    return float(steps / (len(sources) * (nodes - 1)))


def _steps(matrix: sparse.csr_array, sources: IntArray) -> int:
    """Steps from each of at most 64 sources to every node, summed."""
    starts, neighbours = matrix.indptr[:-1], matrix.indices
    reached = np.zeros(matrix.shape[0], dtype=np.uint64)
    reached[sources] = np.uint64(1) << np.arange(len(sources), dtype=np.uint64)
    news, step, total = reached.copy(), 0, 0
    while news.any():
        step += 1
        # Every node of a component of at least two has a neighbour, so no run is empty.
        news = np.bitwise_or.reduceat(news[neighbours], starts) & ~reached
        reached |= news
        total += step * int(np.unpackbits(news.view(np.uint8)).sum(dtype=np.int64))
    return total


TOO_SMALL = "fewer than four nodes"
NO_TRIANGLE = "omega is missing: the lattice has no triangle"
ABOVE_LATTICE = "omega is missing: more clustering than in the lattice"
NULLS = 10
FEW_NULLS = 3
"""Random networks to compare with; the fewer above 50,000 pairs."""
PARTS = (
    *("clustering", "path", "clustering_random", "path_random", "clustering_lattice"),
    *("sigma", "omega"),
)


def small_world(run: Run) -> pd.DataFrame:
    """Largest component of both networks at the end, against networks of the same degrees.

    sigma = (C / C_random) / (L / L_random) (Humphries and Gurney 2008), omega = L_random / L -
    C / C_lattice (Telesford et al. 2011), with C the mean local clustering (Watts and Strogatz
    1998) and L the mean number of steps between two scientists.

    Returns:
        One row per ``network`` (all, grown): ``nodes`` and ``pairs`` of its largest component;
        ``clustering`` (0..1), ``path`` (steps, >= 1), ``clustering_random``, ``path_random``
        (means over ``nulls`` rewired networks), ``clustering_lattice``; ``sigma`` (> 1: a small
        world; missing where the random networks have no triangle) and ``omega`` (about -1: a
        lattice, 0: a small world, 1: random; missing where C is above that of the lattice, since
        C / C_lattice is then no place between random and lattice); ``note`` says why omega is
        missing, or is empty. All are missing below four nodes.
    """
    streams = Streams(run.seed, "metrics", "small world")
    rows = []
    for network, matrix in final_networks(run):
        rows.append({"network": network, **small_world_statistics(matrix, streams.stream(network))})
    table = pd.DataFrame(rows).astype({"network": "string", "note": "string"})
    table[["nodes", "pairs", "nulls"]] = table[["nodes", "pairs", "nulls"]].astype("Int64")
    table[list(PARTS)] = table[list(PARTS)].astype("Float64")
    return table


def small_world_statistics(
    matrix: sparse.csr_array, rng: np.random.Generator
) -> dict[str, float | int | str | None]:
    """Every column of ``small_world`` but the first, for one network."""
    whole = largest_component(matrix)
    nodes, pairs = whole.shape[0], whole.nnz // 2
    columns: dict[str, float | int | str | None] = {"nodes": nodes, "pairs": pairs, "nulls": 0}
    if nodes < 4:
        return {**columns, **dict.fromkeys(PARTS), "note": TOO_SMALL}
    # Before the null networks draw, whose number must not change the sample of paths.
    clustering, path = _clustering(whole), mean_path(whole, rng)
    nulls = FEW_NULLS if pairs > MANY_PAIRS else NULLS
    random = np.array([_of_null(whole, rng) for _ in range(nulls)])
    c_random, l_random = (float(mean) for mean in random.mean(axis=0))
    c_lattice = max(_clustering(lattice) for lattice in _lattices(whole, rng))
    values = (clustering, path, c_random, l_random, c_lattice)
    sigma = clustering / c_random / (path / l_random) if c_random > 0 else None
    note = NO_TRIANGLE if not c_lattice else ABOVE_LATTICE if clustering > c_lattice else ""
    omega = None if note else l_random / path - clustering / c_lattice
    measured = dict(zip(PARTS, (*values, sigma, omega), strict=True))
    return {**columns, "nulls": nulls, **measured, "note": note}


def _lattices(matrix: sparse.csr_array, rng: np.random.Generator) -> Iterator[sparse.csr_array]:
    """Lattice-like networks of the same degrees; neither way is always the better."""
    yield latticise(matrix, rng)
    ring = ring_lattice(matrix, rng)
    if ring is not None:
        yield ring


def _of_null(matrix: sparse.csr_array, rng: np.random.Generator) -> tuple[float, float]:
    """Clustering of a rewired network, and the mean path of its own largest component."""
    null = rewire(matrix, rng)
    return _clustering(null), mean_path(largest_component(null), rng)


def _clustering(matrix: sparse.csr_array) -> float:
    return float(network_statistics(matrix)["clustering"] or 0.0)
