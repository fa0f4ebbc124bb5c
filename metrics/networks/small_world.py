"""The small-world coefficient sigma, and the mean shortest path that it needs."""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd
from scipy import sparse

from virsci_society.agents.lazy_imports import nx
from virsci_society.metrics.networks.structure import final_networks, network_statistics
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

SWAPS = 10
"""Swaps per pair that make a random network of the same degrees (Milo et al. 2003)."""
NULLS, FEW_NULLS, MANY_PAIRS = 10, 3, 10_000
"""Random networks to compare with; the fewer above 10,000 pairs."""
EXACT = 1024
"""Scientists up to which shortest paths start from everybody; above, from a sample."""
SOURCES = 256
PARTS = ("clustering", "path", "clustering_random", "path_random", "sigma")


def small_world(run: Run) -> pd.DataFrame:
    """Both networks against random ones of the same degrees (Humphries and Gurney 2008)."""
    streams = Streams(run.seed, "metrics", "small world")
    rows = [
        {"network": network, **small_world_statistics(matrix, streams.stream(network))}
        for network, matrix in final_networks(run)
    ]
    kinds = {"network": "string"} | dict.fromkeys(("nodes", "pairs", "nulls"), "Int64")
    return pd.DataFrame(rows).astype({**kinds, **dict.fromkeys(PARTS, "Float64")})


def small_world_statistics(
    matrix: sparse.csr_array, rng: np.random.Generator
) -> dict[str, float | int | None]:
    """Every column of ``small_world`` but the first, for one network."""
    whole = largest_component(matrix)
    nodes, pairs = whole.shape[0], whole.nnz // 2
    columns: dict[str, float | int | None] = {"nodes": nodes, "pairs": pairs, "nulls": 0}
    if nodes < 4:
        return {**columns, **dict.fromkeys(PARTS)}
    clustering, path = _clustering(whole), mean_path(whole, rng)
    nulls = FEW_NULLS if pairs > MANY_PAIRS else NULLS
    random = [rewire(whole, rng) for _ in range(nulls)]
    c_random = float(np.mean([_clustering(null) for null in random]))
    l_random = float(np.mean([mean_path(largest_component(null), rng) for null in random]))
    sigma = clustering / c_random / (path / l_random) if c_random else None
    values = (clustering, path, c_random, l_random, sigma)
    return {**columns, "nulls": nulls, **dict(zip(PARTS, values, strict=True))}


def largest_component(matrix: sparse.csr_array) -> sparse.csr_array:
    """The largest component of a network; of several as large, that of the first node."""
    _, label = sparse.csgraph.connected_components(matrix, directed=False)
    if not len(label):
        return matrix
    inside = np.flatnonzero(label == np.bincount(label).argmax())
    return matrix[inside][:, inside].tocsr()


def mean_path(matrix: sparse.csr_array, rng: np.random.Generator) -> float:
    """Mean number of steps between two nodes of a connected network; NaN below two nodes."""
    nodes = matrix.shape[0]
    if nodes < 2:
        return float("nan")
    sources = np.arange(nodes)
    if nodes > EXACT:
        sources = np.sort(rng.choice(nodes, SOURCES, replace=False))
    # In parts, since the table of all distances would have a row per source.
    parts = np.array_split(sources, len(sources) // 64 + 1)
    steps = sum(sparse.csgraph.dijkstra(matrix, unweighted=True, indices=at).sum() for at in parts)
    return float(steps / (len(sources) * (nodes - 1)))


def rewire(matrix: sparse.csr_array, rng: np.random.Generator) -> sparse.csr_array:
    """A random network with the same degrees, by swaps of two ties; weights become 1."""
    graph = nx.from_scipy_sparse_array(matrix > 0)
    swaps = SWAPS * graph.number_of_edges()
    # Where everybody is tied to everybody, or to one person only, there is nothing to swap.
    with contextlib.suppress(nx.NetworkXAlgorithmError):
        seed = int(rng.integers(2**31))
        nx.double_edge_swap(graph, swaps, max_tries=100 * swaps, seed=seed)
    # The order of ties is that of the swaps; sorted, so that paths are the same on every machine.
    return sparse.csr_array(nx.to_scipy_sparse_array(graph, weight=None)).astype(np.float64)


def _clustering(matrix: sparse.csr_array) -> float:
    return float(network_statistics(matrix)["clustering"] or 0.0)
