"""Small world: clustered like a lattice, and yet few steps from anybody to anybody."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from metrics.network.paths import giant, mean_path
from metrics.network.rewiring import MANY_PAIRS, latticed, rewired
from metrics.structure import NETWORKS, adjacency, describe, ties_of
from society.run import Run
from society.streams import Streams

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
        lattice, 0: a small world, 1: random). Missing below four nodes.
    """
    streams = Streams(run.seed, "metrics", "small world")
    rows = []
    for network in NETWORKS:
        matrix = adjacency(ties_of(run.table("ties"), network))
        rows.append({"network": network, **world_of(matrix, streams.stream(network))})
    table = pd.DataFrame(rows).astype({"network": "string"})
    table[["nodes", "pairs", "nulls"]] = table[["nodes", "pairs", "nulls"]].astype("Int64")
    table[list(PARTS)] = table[list(PARTS)].astype("Float64")
    return table


def world_of(matrix: sparse.csr_array, rng: np.random.Generator) -> dict[str, float | int | None]:
    """Every column of ``small_world`` but the first, for one symmetric matrix."""
    whole = giant(matrix)
    nodes, pairs = whole.shape[0], whole.nnz // 2
    told: dict[str, float | int | None] = {"nodes": nodes, "pairs": pairs, "nulls": 0}
    if nodes < 4:
        return {**told, **dict.fromkeys(PARTS)}
    clustering, path = _clustering(whole), mean_path(whole, rng)
    nulls = FEW_NULLS if pairs > MANY_PAIRS else NULLS
    random = np.array([_of_null(whole, rng) for _ in range(nulls)])
    c_random, l_random = (float(mean) for mean in random.mean(axis=0))
    c_lattice = max(_clustering(latticed(whole, rng)), clustering)
    values = (clustering, path, c_random, l_random, c_lattice)
    sigma = clustering / c_random / (path / l_random) if c_random > 0 else None
    omega = l_random / path - clustering / c_lattice if c_lattice > 0 else None
    return {**told, "nulls": nulls, **dict(zip(PARTS, (*values, sigma, omega), strict=True))}


def _of_null(matrix: sparse.csr_array, rng: np.random.Generator) -> tuple[float, float]:
    """Clustering of a rewired network, and the mean path of its own largest component."""
    null = rewired(matrix, rng)
    return _clustering(null), mean_path(giant(null), rng)


def _clustering(matrix: sparse.csr_array) -> float:
    return float(describe(matrix)["clustering"] or 0.0)
