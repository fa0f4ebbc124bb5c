"""Communities (Louvain or Leiden, with modularity), core and periphery of the networks."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
import pandas as pd
from scipy import sparse

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.lazy_imports import nx
from virsci_society.metrics.networks.structure import (
    NETWORKS,
    adjacency,
    final_networks,
    last_grown,
    network_ties,
)
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
    modularity  correlation  modularity of the communities of authors with a co-author: Louvain;
        joint papers since day 0, at the end (Newman and Girvan 2004)
    communities  communities  number of communities of authors with a co-author: Louvain; joint
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
    """The method by which communities are found, or why there is none, and each node's one."""
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


@measures(
    "structure",
    """
    core  share  share of authors with a co-author in the core: joint papers since day 0, at the end
        (Borgatti and Everett 2000)
    """,
    last_grown,
)
@metric("structure")
def core_periphery(run: Run) -> pd.DataFrame:
    """The innermost k-core (Seidman 1983), and the core of Borgatti and Everett (2000)."""
    rows: list[dict[str, object]] = []
    for network, matrix in final_networks(run):
        nodes = matrix.shape[0]
        row: dict[str, object] = {"network": network, "nodes": nodes, "coreness": 0}
        if nodes:
            shells, (size, fit) = coreness(matrix), best_core(matrix)
            row["coreness"], row["innermost"] = shells.max(), (shells == shells.max()).mean()
            if not np.isnan(fit):
                row |= {"core": size / nodes, "fit": fit}
        rows.append(row)
    kinds = {"network": "string", "nodes": "Int64", "coreness": "Int64"}
    kinds |= dict.fromkeys(("innermost", "core", "fit"), "Float64")
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def coreness(matrix: sparse.csr_array) -> IntArray:
    """Largest k of a k-core that each node is in (Seidman 1983), by networkx."""
    shells = nx.core_number(nx.from_scipy_sparse_array(matrix))
    return np.array([shells[node] for node in range(matrix.shape[0])], dtype=np.int64)


def best_core(matrix: sparse.csr_array) -> tuple[int, float]:
    """Size of the best-fitting core and its correlation, -1..1; NaN where there is none."""
    nodes = matrix.shape[0]
    degree = np.diff(matrix.indptr)
    rank = np.empty(nodes, dtype=np.int64)
    # Stable, so that nodes of equal degree keep the order of their names.
    rank[np.argsort(-degree, kind="stable")] = np.arange(nodes)
    ends = sparse.triu(matrix, k=1).tocoo()
    first = np.minimum(rank[ends.coords[0]], rank[ends.coords[1]])
    # In floats: products of four counts of a large network leave 64-bit integers.
    sizes = np.arange(1, nodes, dtype=np.float64)
    touching = np.cumsum(np.bincount(first, minlength=nodes))[: nodes - 1]
    ideal = sizes * (sizes - 1) / 2 + sizes * (nodes - sizes)
    pairs, tied = nodes * (nodes - 1) / 2, float(len(first))
    spread = np.sqrt(ideal * (pairs - ideal) * tied * (pairs - tied))
    fits = np.full(len(sizes), np.nan)
    np.divide(pairs * touching - ideal * tied, spread, out=fits, where=spread > 0)
    if not len(fits) or np.isnan(fits).all():
        return 0, float("nan")
    best = int(np.nanargmax(fits))
    return best + 1, float(fits[best])
