"""Communities of the co-authorship network, by Louvain or Leiden, with their modularity."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
import pandas as pd
from scipy import sparse

from virsci_society.agents.arrays import IntArray
from virsci_society.metrics.networks.structure import NETWORKS, adjacency, network_ties
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

LARGE = 50_000
MANY_PAIRS = 200_000
"""Above so many scientists, or pairs, Leiden of networkit (extra ``[scale]``) takes the place of
Louvain."""
NEEDS = "not measured: a network of this size needs the extra [scale] (networkit)"


def communities(run: Run) -> pd.DataFrame:
    """Communities of both networks at day 0 and at the end (Blondel et al. 2008), seeded.

    Returns:
        One row per ``date`` and ``network`` (all, grown): ``method`` (louvain; leiden above
        50,000 scientists or 200,000 pairs, Traag et al. 2019; or why there is none),
        ``communities`` (number, of scientists with a tie), ``largest`` (share of scientists in
        the largest, 0..1) and
        ``modularity`` (weighted by joint papers, -0.5..1, missing without a tie: Newman and
        Girvan 2004).
    """
    streams, rows = Streams(run.seed, "metrics", "communities"), []
    for date in dict.fromkeys((0.0, run.days)):
        for network in NETWORKS:
            ties = network_ties(run.table("ties"), network)
            matrix = adjacency(ties[ties["date"] <= date])
            seed = streams.key(date, network) % 2**31
            rows.append({"date": date, "network": network, **detect_communities(matrix, seed)})
    table = pd.DataFrame(rows)
    kinds = {"date": "Float64", "network": "string", "method": "string"}
    kinds |= {"communities": "Int64", "largest": "Float64", "modularity": "Float64"}
    return table.astype(kinds)


def detect_communities(matrix: sparse.csr_array, seed: int) -> dict[str, object]:
    """The columns of ``communities`` after the first two, for one network.

    Args:
        matrix: weighted, symmetric, n x n.
        seed: of the method's random order.
    """
    nodes = matrix.shape[0]
    empty = {"communities": 0, "largest": None, "modularity": None}
    if not matrix.nnz:
        return {"method": "louvain", **empty}
    if nodes <= LARGE and matrix.nnz <= 2 * MANY_PAIRS:
        method, label = "louvain", louvain(matrix, seed)
    elif find_spec("networkit") is not None:
        method, label = "leiden", leiden(matrix, seed)
    else:
        return {"method": NEEDS, **empty, "communities": None}
    return {
        "method": method,
        "communities": len(np.unique(label)),
        "largest": float(np.bincount(label).max() / nodes),
        "modularity": modularity(matrix, label),
    }


def louvain(matrix: sparse.csr_array, seed: int) -> IntArray:
    """Louvain community of each node, by networkx (Blondel et al. 2008).

    Args:
        matrix: weighted, symmetric, n x n.
        seed: of the order in which nodes are visited.

    Returns:
        Number of the community of each node, of shape (n,).
    """
    import networkx as nx

    graph = nx.from_scipy_sparse_array(matrix)
    parts: Sequence[set[int]] = nx.community.louvain_communities(graph, seed=seed)
    label = np.empty(matrix.shape[0], dtype=np.int64)
    for number, members in enumerate(parts):
        label[list(members)] = number
    return label


def leiden(matrix: sparse.csr_array, seed: int) -> IntArray:
    """Leiden community of each node, by networkit (Traag et al. 2019).

    It runs on one thread: only so is it the same every time.

    Args:
        matrix: weighted, symmetric, n x n.
        seed: of the order in which nodes are visited.

    Returns:
        Number of the community of each node, of shape (n,).
    """
    import networkit as nk

    threads = nk.getMaxNumberOfThreads()
    nk.setNumberOfThreads(1)
    nk.setSeed(seed, False)
    try:
        ends = sparse.triu(matrix, k=1).tocoo()
        graph = nk.GraphFromCoo((ends.data, ends.coords), n=matrix.shape[0], weighted=True)
        partition = nk.community.ParallelLeiden(graph, randomize=True).run().getPartition()
        return np.unique(np.array(partition.getVector()), return_inverse=True)[1].astype(np.int64)
    finally:
        nk.setNumberOfThreads(threads)


def modularity(matrix: sparse.csr_array, label: IntArray) -> float:
    """Modularity: weight share inside communities, less the share that degrees alone predict.

    Args:
        matrix: weighted, symmetric, n x n, with at least one tie.
        label: number of the community of each node, of shape (n,).

    Returns:
        -0.5..1.

    Source:
        Newman, M. E. J. and Girvan, M. (2004). Finding and evaluating community structure in
        networks. Physical Review E 69.
    """
    total = float(matrix.sum())
    ends = matrix.tocoo()
    inside = float(ends.data[label[ends.coords[0]] == label[ends.coords[1]]].sum())
    strength = np.asarray(matrix.sum(axis=1)).ravel()
    shares = np.bincount(label, weights=strength) / total
    return float(inside / total - shares @ shares)
