"""Core and periphery of the co-authorship network: k-cores, and the Borgatti-Everett core."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from virsci_society.agents.arrays import IntArray
from virsci_society.metrics.networks.structure import NETWORKS, adjacency, network_ties
from virsci_society.society.results.run import Run


def core_periphery(run: Run) -> pd.DataFrame:
    """Core of both networks at the end, by two definitions.

    Returns:
        One row per ``network`` (all, grown): ``nodes``; ``coreness`` (largest k such that
        somebody is tied to k others who are each tied to k of them, and so on) and ``innermost``
        (share of scientists in that k-core, 0..1) (Seidman 1983); ``core`` (share of
        scientists in the core) and ``fit`` (correlation of the ties with a network in which a
        pair is tied where at least one of the two is of the core, -1..1) after Borgatti and
        Everett 2000, discrete model, the best of all cores that take scientists in order of
        their degree. Missing where nobody, or everybody, is tied to everybody.
    """
    rows = []
    for network in NETWORKS:
        matrix = adjacency(network_ties(run.table("ties"), network))
        rows.append({"network": network, "nodes": matrix.shape[0], **core_statistics(matrix)})
    kinds = {"network": "string", "nodes": "Int64", "coreness": "Int64"}
    kinds |= dict.fromkeys(("innermost", "core", "fit"), "Float64")
    return pd.DataFrame(rows).astype(kinds)


def core_statistics(matrix: sparse.csr_array) -> dict[str, float | int | None]:
    """The columns of ``core_periphery`` after the first two, for one symmetric matrix."""
    nodes = matrix.shape[0]
    if not nodes:
        return {"coreness": 0, "innermost": None, "core": None, "fit": None}
    shells = coreness(matrix)
    size, fit = best_core(matrix)
    return {
        "coreness": int(shells.max()),
        "innermost": float((shells == shells.max()).mean()),
        "core": None if np.isnan(fit) else size / nodes,
        "fit": None if np.isnan(fit) else fit,
    }


def coreness(matrix: sparse.csr_array) -> IntArray:
    """Largest k of a k-core that each node is in (Seidman 1983), shell by shell."""
    degree = np.diff(matrix.indptr).astype(np.int64)
    shells = np.zeros(len(degree), dtype=np.int64)
    alive = np.ones(len(degree), dtype=bool)
    k = 0
    while alive.any():
        k = max(k, int(degree[alive].min()))
        leaving = np.flatnonzero(alive & (degree <= k))
        while len(leaving):
            shells[leaving], alive[leaving] = k, False
            neighbours, lost = np.unique(matrix[leaving].indices, return_counts=True)
            degree[neighbours] -= lost
            leaving = neighbours[alive[neighbours] & (degree[neighbours] <= k)]
    return shells


def best_core(matrix: sparse.csr_array) -> tuple[int, float]:
    """Size of the best-fitting core and its correlation, -1..1; NaN where there is none."""
    nodes = matrix.shape[0]
    degree = np.diff(matrix.indptr)
    rank = np.empty(nodes, dtype=np.int64)
    rank[np.argsort(-degree, kind="stable")] = np.arange(nodes)
    ends = sparse.triu(matrix, k=1).tocoo()
    first = np.minimum(rank[ends.coords[0]], rank[ends.coords[1]])
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
