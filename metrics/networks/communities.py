"""Communities of the networks (Louvain or Leiden) and their modularity."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.lazy_imports import nx, sparse
from virsci_society.metrics.networks.structure import NETWORKS, adjacency, last_grown, network_ties
from virsci_society.metrics.registry import measures, metric
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

LARGE = 50_000
MANY_PAIRS = 200_000
"""Scientists, or pairs, above which Leiden of networkit (extra ``[scale]``) replaces Louvain."""
NEEDS = "not measured: a network of this size needs the extra [scale] (networkit)"


@measures(
    "structure",
    """
    modularity  correlation  modularity of the co-authorship network: Louvain communities; joint
        papers since day 0, at the end (Newman and Girvan 2004)
    communities  communities  number of communities in the co-authorship network: Louvain; joint
        papers since day 0, at the end (Blondel et al. 2008)
    """,
    last_grown,
)
@metric("structure")
def communities(run: Run) -> pd.DataFrame:
    """Communities of both networks at day 0 and at the end (Blondel et al. 2008), seeded."""
    streams, rows = Streams(run.seed, "metrics", "communities"), []
    # A run of no days has one row per network, not two.
    for date in dict.fromkeys((0.0, run.days)):
        for network in NETWORKS:
            ties = network_ties(run.table("ties"), network)
            matrix = adjacency(ties[ties["date"] <= date])
            # The generator of Louvain takes seeds below 2^32 only.
            seed = streams.key(date, network) % 2**31
            rows.append({"date": date, "network": network, **detect_communities(matrix, seed)})
    table = pd.DataFrame(rows)
    kinds = {"date": "Float64", "network": "string", "method": "string"}
    kinds |= {"communities": "Int64", "largest": "Float64", "modularity": "Float64"}
    return table.astype(kinds)


def detect_communities(matrix: sparse.csr_array, seed: int) -> dict[str, object]:
    """The columns of ``communities`` after the first two, for one network."""
    found: dict[str, object] = dict.fromkeys(("communities", "largest", "modularity"))
    if not matrix.nnz:
        return {"method": "louvain", **found, "communities": 0}
    method, label = find_labels(matrix, seed)
    if label is not None:
        found = {
            "communities": len(np.unique(label)),
            "largest": float(np.bincount(label).max() / matrix.shape[0]),
            "modularity": modularity(matrix, label),
        }
    return {"method": method, **found}


def find_labels(matrix: sparse.csr_array, seed: int) -> tuple[str, IntArray | None]:
    """The method of community detection, or why none is possible, and the label of each node."""
    # The matrix has each pair twice.
    if matrix.shape[0] <= LARGE and matrix.nnz <= 2 * MANY_PAIRS:
        return "louvain", louvain(matrix, seed)
    if find_spec("networkit") is not None:
        return "leiden", leiden(matrix, seed)
    return NEEDS, None


def louvain(matrix: sparse.csr_array, seed: int) -> IntArray:
    """Louvain community of each node, by networkx (Blondel et al. 2008)."""
    graph = nx.from_scipy_sparse_array(matrix)
    parts: Sequence[set[int]] = nx.community.louvain_communities(graph, seed=seed)
    label = np.empty(matrix.shape[0], dtype=np.int64)
    for number, members in enumerate(parts):
        label[list(members)] = number
    return label


def leiden(matrix: sparse.csr_array, seed: int) -> IntArray:
    """Leiden community of each node, by networkit (Traag et al. 2019)."""
    import networkit as nk

    # On one thread: only so is it the same every time.
    threads = nk.getMaxNumberOfThreads()
    nk.setNumberOfThreads(1)
    # One seed for all threads, not one each.
    nk.setSeed(seed, False)
    try:
        ends = sparse.triu(matrix, k=1).tocoo()
        graph = nk.GraphFromCoo((ends.data, ends.coords), n=matrix.shape[0], weighted=True)
        partition = nk.community.ParallelLeiden(graph, randomize=True).run().getPartition()
        return np.unique(np.array(partition.getVector()), return_inverse=True)[1].astype(np.int64)
    finally:
        # The number is of the process, and others may use networkit too.
        nk.setNumberOfThreads(threads)


def modularity(matrix: sparse.csr_array, label: IntArray) -> float:
    """Modularity: weight share inside communities, less the share that degrees alone predict."""
    total = float(matrix.sum())
    ends = matrix.tocoo()
    inside = float(ends.data[label[ends.coords[0]] == label[ends.coords[1]]].sum())
    strength = np.asarray(matrix.sum(axis=1)).ravel()
    shares = np.bincount(label, weights=strength) / total
    return float(inside / total - shares @ shares)
