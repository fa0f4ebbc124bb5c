"""Structure of the co-authorship network over simulated time.

Two networks are followed: ``all`` holds the ties from before day 0 and those made since,
``grown`` only those made since. A scientist is a node from its first tie on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from virsci_society.agents.arrays import FloatArray
from virsci_society.society.results.run import Run

WEEK, MONTH = 7.0, 365.0 / 12.0
NETWORKS = ("all", "grown")
WHOLE = ("nodes", "edges", "weight", "components")
COLUMNS = (
    *("nodes", "edges", "weight", "mean_degree", "giant_share", "components"),
    *("clustering", "transitivity", "assortativity"),
)


def structure(run: Run, every: float = MONTH) -> pd.DataFrame:
    """Basic structure of both networks at regular dates and at the end (Newman 2003).

    Args:
        run: the run.
        every: days between two dates, > 0.

    Returns:
        One row per date and network: ``date`` (days), ``network``, ``nodes``, ``edges``,
        ``weight`` (joint papers), ``mean_degree``, ``giant_share`` (share of the nodes in the
        largest component), ``components``, ``clustering`` (mean local coefficient, 0..1, nodes
        of degree < 2 count as 0: Watts and Strogatz 1998), ``transitivity`` (0..1) and
        ``assortativity`` (degree correlation, -1..1, missing where degrees do not vary: Newman
        2002).
    """
    rows = []
    for network in NETWORKS:
        chosen = network_ties(run.table("ties"), network)
        tied = chosen["date"].to_numpy(dtype=np.float64)
        in_order = np.sort(tied)
        known, last = -1, {}
        for date in sample_dates(run.days, every):
            count = int(np.searchsorted(in_order, date, side="right"))
            if count != known:
                known, last = count, network_statistics(adjacency(chosen[tied <= date]))
            rows.append({"date": date, "network": network, **last})
    table = pd.DataFrame(rows)
    table["network"] = table["network"].astype("string")
    table[list(WHOLE)] = table[list(WHOLE)].astype("Int64")
    parts = [name for name in table.columns if name not in (*WHOLE, "network")]
    table[parts] = table[parts].astype("Float64")
    return table


def network_ties(ties: pd.DataFrame, network: str) -> pd.DataFrame:
    """Dated rows of the table ``ties`` that belong to a network.

    Args:
        ties: the table.
        network: ``all`` of them, or ``grown`` (since day 0).
    """
    dated = ties.dropna(subset=["date", "source", "target"])
    return dated if network == "all" else dated[dated["date"] >= 0]


def sample_dates(days: float, every: float) -> list[float]:
    """The dates 0, ``every``, 2 x ``every``, ... and the last day.

    Args:
        days: the last day, >= 0.
        every: days between two dates, > 0.
    """
    steps = [n * every for n in range(int(days // every) + 1)]
    return steps if steps[-1] == days else [*steps, float(days)]


def adjacency(ties: pd.DataFrame, nodes: Sequence[str] | None = None) -> sparse.csr_array:
    """Symmetric matrix of joint papers; no diagonal.

    Args:
        ties: ``source``, ``target`` and ``papers``.
        nodes: the scientists that are in the matrix, in its order, also those without a tie; ties
            of others are left out. None: all who have a tie, by name.
    """
    names = pd.concat([ties["source"], ties["target"]])
    if nodes is None:
        codes, known = pd.factorize(names, sort=True)
    else:
        known = pd.Index(nodes, dtype=object)
        codes = known.get_indexer(names.astype(object))
    half, size = len(ties), len(known)
    rows, columns = codes[:half], codes[half:]
    papers = ties["papers"].fillna(1).to_numpy(dtype=np.float64)
    apart = (rows != columns) & (rows >= 0) & (columns >= 0)
    one_way = sparse.coo_array(
        (papers[apart], (rows[apart], columns[apart])), shape=(size, size)
    ).tocsr()
    return (one_way + one_way.T).tocsr()


def network_statistics(matrix: sparse.csr_array) -> dict[str, float | int | None]:
    """Every column of ``structure`` after the first two, for one weighted symmetric matrix."""
    nodes = matrix.shape[0]
    edges = matrix.nnz // 2
    degree = np.diff(matrix.indptr).astype(np.float64)
    if not nodes:
        return {**dict.fromkeys(COLUMNS), **dict.fromkeys(WHOLE, 0)}
    components, label = sparse.csgraph.connected_components(matrix, directed=False)
    triangles = _triangles(matrix)
    pairs = degree * (degree - 1) / 2
    local = np.divide(triangles, pairs, out=np.zeros(nodes), where=pairs > 0)
    return {
        "nodes": nodes,
        "edges": edges,
        "weight": round(matrix.sum() / 2),
        "mean_degree": 2 * edges / nodes,
        "giant_share": int(np.bincount(label).max()) / nodes,
        "components": int(components),
        "clustering": float(local.mean()),
        "transitivity": float(triangles.sum() / pairs.sum()) if pairs.any() else 0.0,
        "assortativity": _assortativity(matrix, degree),
    }


def _triangles(matrix: sparse.csr_array) -> FloatArray:
    """Triangles through each node, from the squared matrix of ones."""
    ones = matrix.copy()
    ones.data = np.ones_like(ones.data)
    through: FloatArray = np.asarray((ones @ ones).multiply(ones).sum(axis=1)).ravel() / 2
    return through


def _assortativity(matrix: sparse.csr_array, degree: FloatArray) -> float | None:
    """Correlation of the degrees at the two ends of an edge; None where they do not vary."""
    ends = matrix.tocoo()
    left, right = degree[ends.coords[0]], degree[ends.coords[1]]
    if not len(left) or np.ptp(left) == 0:
        return None
    return float(np.corrcoef(left, right)[0, 1])
