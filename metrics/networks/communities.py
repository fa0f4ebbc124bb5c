"""Communities: groups that write among themselves more than with others."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from metrics.structure import NETWORKS, adjacency, ties_of
from society.run import Run
from society.streams import Streams

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
            ties = ties_of(run.table("ties"), network)
            matrix = adjacency(ties[ties["date"] <= date])
            seed = streams.key(date, network) % 2**31
            rows.append({"date": date, "network": network, **grouped(matrix, seed)})
    table = pd.DataFrame(rows)
    kinds = {"date": "Float64", "network": "string", "method": "string"}
    kinds |= {"communities": "Int64", "largest": "Float64", "modularity": "Float64"}
    return table.astype(kinds)


def grouped(matrix: sparse.csr_array, seed: int) -> dict[str, object]:
    """The columns of ``communities`` after the first two, for one weighted symmetric matrix."""
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


def louvain(matrix: sparse.csr_array, seed: int) -> NDArray[np.int64]:
    """Community of each node, by networkx."""
    import networkx as nx

    graph = nx.from_scipy_sparse_array(matrix)
    found: Sequence[set[int]] = nx.community.louvain_communities(graph, seed=seed)
    label = np.empty(matrix.shape[0], dtype=np.int64)
    for number, members in enumerate(found):
        label[list(members)] = number
    return label


def leiden(matrix: sparse.csr_array, seed: int) -> NDArray[np.int64]:
    """Community of each node, by networkit on one thread: only so is it the same every time."""
    import networkit as nk

    threads = nk.getMaxNumberOfThreads()
    nk.setNumberOfThreads(1)
    nk.setSeed(seed, False)
    try:
        ends = sparse.triu(matrix, k=1).tocoo()
        graph = nk.GraphFromCoo((ends.data, ends.coords), n=matrix.shape[0], weighted=True)
        found = nk.community.ParallelLeiden(graph, randomize=True).run().getPartition()
        return np.unique(np.array(found.getVector()), return_inverse=True)[1].astype(np.int64)
    finally:
        nk.setNumberOfThreads(threads)


def modularity(matrix: sparse.csr_array, label: NDArray[np.int64]) -> float:
    """Weight inside the communities beyond what degrees alone would put there."""
    total = float(matrix.sum())
    ends = matrix.tocoo()
    inside = float(ends.data[label[ends.coords[0]] == label[ends.coords[1]]].sum())
    strength = np.asarray(matrix.sum(axis=1)).ravel()
    shares = np.bincount(label, weights=strength) / total
    return float(inside / total - shares @ shares)
