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

from virsci_society.agents.arrays import IntArray
from virsci_society.metrics.networks.rewiring import MANY_PAIRS, latticise, rewire, ring_lattice
from virsci_society.metrics.networks.structure import (
    NETWORKS,
    adjacency,
    network_statistics,
    network_ties,
)
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

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
    for network in NETWORKS:
        matrix = adjacency(network_ties(run.table("ties"), network))
        rows.append({"network": network, **small_world_statistics(matrix, streams.stream(network))})
    table = pd.DataFrame(rows).astype({"network": "string", "note": "string"})
    table[["nodes", "pairs", "nulls"]] = table[["nodes", "pairs", "nulls"]].astype("Int64")
    table[list(PARTS)] = table[list(PARTS)].astype("Float64")
    return table


def small_world_statistics(
    matrix: sparse.csr_array, rng: np.random.Generator
) -> dict[str, float | int | str | None]:
    """Every column of ``small_world`` but the first, for one network.

    Args:
        matrix: symmetric, n x n.
        rng: draws the null networks and, in large networks, the sources of paths.
    """
    whole = largest_component(matrix)
    nodes, pairs = whole.shape[0], whole.nnz // 2
    columns: dict[str, float | int | str | None] = {"nodes": nodes, "pairs": pairs, "nulls": 0}
    if nodes < 4:
        return {**columns, **dict.fromkeys(PARTS), "note": TOO_SMALL}
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
