"""Structure of the co-authorship network over time, whole and active.

``all`` contains all ties, ``grown`` only ties since day 0; people who leave stay in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.lazy_imports import sparse
from virsci_society.metrics.impact import authorships_of
from virsci_society.metrics.registry import measures, metric
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.run import Run

WEEK, MONTH = 7.0, 365.0 / 12.0
NETWORKS = ("all", "grown")
WHOLE = ("nodes", "edges", "weight", "components")
COLUMNS = (
    *("nodes", "edges", "weight", "mean_degree", "giant_share", "components"),
    *("clustering", "transitivity", "assortativity"),
)


def last_grown(_: Run, table: pd.DataFrame) -> pd.DataFrame:
    """The last row of a metric of the network of ties since day 0."""
    return table[table["network"] == "grown"].tail(1)


@measures(
    "structure",
    """
    components  components  number of components of the co-authorship network: joint papers since
        day 0, at the end
    transitivity  index  transitivity of the co-authorship network: closed share of connected
        triples; joint papers since day 0, at the end (Newman 2003)
    """,
    last_grown,
)
@metric("structure")
def structure(run: Run, every: float = MONTH) -> pd.DataFrame:
    """Basic structure of both networks at regular dates and at the end (Newman 2003)."""
    rows = []
    for network in NETWORKS:
        chosen = network_ties(run.table("ties"), network).sort_values("date", kind="stable")
        tied, papers = chosen["date"].to_numpy(dtype=np.float64), _joint(chosen)
        names = pd.concat([chosen["source"], chosen["target"]])
        left, right = np.split(pd.factorize(names, sort=True)[0], 2)
        # A month without a new tie repeats the row before.
        known, last = -1, {}
        for date in sample_dates(run.days, every):
            count = int(np.searchsorted(tied, date, side="right"))
            if count != known:
                both = np.concatenate([left[:count], right[:count]])
                people, ends = np.unique(both, return_inverse=True)
                matrix = _matrix(ends[:count], ends[count:], papers[:count], len(people))
                known, last = count, network_statistics(matrix)
            rows.append({"date": date, "network": network, **last})
    table = pd.DataFrame(rows).astype({"network": "string", **dict.fromkeys(WHOLE, "Int64")})
    parts = [name for name in table.columns if name not in (*WHOLE, "network")]
    return table.astype(dict.fromkeys(parts, "Float64"))


def network_ties(ties: pd.DataFrame, network: str) -> pd.DataFrame:
    """Dated rows of the table ``ties`` that belong to a network."""
    dated = ties.dropna(subset=["date", "source", "target"])
    return dated if network == "all" else dated[dated["date"] >= 0]


def final_networks(run: Run) -> Iterator[tuple[str, sparse.csr_array]]:
    """Name and matrix of both networks at the end of a run."""
    for network in NETWORKS:
        yield network, adjacency(network_ties(run.table("ties"), network))


def sample_dates(days: float, every: float) -> list[float]:
    """The dates 0, ``every``, 2 x ``every``, ... and the last day."""
    # Multiples, not sums: a step that is added again and again drifts.
    steps = [n * every for n in range(int(days // every) + 1)]
    return steps if steps[-1] == days else [*steps, float(days)]


def adjacency(ties: pd.DataFrame, nodes: Sequence[str] | None = None) -> sparse.csr_array:
    """Symmetric matrix of joint papers; no diagonal."""
    names = pd.concat([ties["source"], ties["target"]])
    if nodes is None:
        # By name, so that the matrix does not depend on the order of rows.
        codes, known = pd.factorize(names, sort=True)
    else:
        known = pd.Index(nodes, dtype=object)
        codes = known.get_indexer(names.astype(object))
    half = len(ties)
    return _matrix(codes[:half], codes[half:], _joint(ties), len(known))


def _joint(ties: pd.DataFrame) -> FloatArray:
    return ties["papers"].fillna(1).to_numpy(dtype=np.float64)


def _matrix(rows: IntArray, columns: IntArray, papers: FloatArray, size: int) -> sparse.csr_array:
    """Symmetric matrix of joint papers; self-pairs and pairs with -1 are left out."""
    apart = (rows != columns) & (rows >= 0) & (columns >= 0)
    # Sums duplicates: one pair may have rows of several dates.
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
    ends = matrix.tocoo()
    left, right = degree[ends.coords[0]], degree[ends.coords[1]]
    # None where the degrees at the two ends of a tie do not vary.
    varies = len(left) > 0 and np.ptp(left) > 0
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
        "assortativity": float(np.corrcoef(left, right)[0, 1]) if varies else None,
    }


def _triangles(matrix: sparse.csr_array) -> FloatArray:
    """Triangles through each node (Latapy 2008, main-memory triangle computations)."""
    # Ties point to the end of higher degree: with hubs the square of the matrix would be dense.
    rank = np.argsort(np.argsort(np.diff(matrix.indptr), kind="stable"))
    ends = matrix.tocoo()
    up = rank[ends.coords[0]] < rank[ends.coords[1]]
    # Unweighted: a triangle needs one joint paper per pair.
    places = tuple(end[up] for end in ends.coords)
    forward = sparse.coo_array((np.ones(up.sum()), places), shape=matrix.shape).tocsr()
    lowest_and_highest = (forward @ forward).multiply(forward)
    middle = (forward.T @ forward).multiply(forward)
    closed, between = lowest_and_highest.sum(axis=1), middle.sum(axis=1)
    through: FloatArray = closed + lowest_and_highest.sum(axis=0) + between
    return through


WINDOWS = (1.0, 2.0, 4.0)
"""Years without a paper after which a scientist is inactive."""


@measures(
    "structure",
    """
    active_authors=nodes  authors  number of active authors: with a paper of the last year, at the
        end
    giant_component_active=giant_share  share  share of active authors in the largest component:
        authors and joint papers of the last year, at the end
    clustering_active=clustering  index  mean local clustering coefficient of active authors: joint
        papers of the last year, at the end
    """,
    lambda _, table: table[table["years"] == 1].tail(1),
)
@metric("structure")
def active_structure(
    run: Run, windows: tuple[float, ...] = WINDOWS, every: float = 3 * MONTH
) -> pd.DataFrame:
    """Structure of the network of active scientists, at regular dates and the end (Newman 2003)."""
    works, ties = run.once(authorships_of).rows, network_ties(run.table("ties"), "grown")
    written, tied = (table["date"].to_numpy(dtype=np.float64) for table in (works, ties))
    papers, ends = _joint(ties), [works["scientist"], ties["source"], ties["target"]]
    # By name, so that a matrix does not depend on the order of rows.
    codes = pd.factorize(pd.concat(ends).astype(object), sort=True)[0]
    authors, left, right = np.split(codes, np.cumsum([len(end) for end in ends])[:-1])
    rows: list[dict[str, object]] = []
    for date in sample_dates(run.days, every):
        known: dict[float, dict[str, float | int | None]] = {}
        for years in windows:
            start = max(date - years * DAYS_PER_YEAR, 0.0)
            if start not in known:
                # A window that reaches back to day 0 includes that day.
                after = start if start else -1.0
                inside, among = ((after < when) & (when <= date) for when in (written, tied))
                active, place = np.unique(authors[inside]), np.full(codes.max(initial=-1) + 1, -1)
                place[active] = np.arange(len(active))
                pairs = place[left[among]], place[right[among]]
                known[start] = network_statistics(_matrix(*pairs, papers[among], len(active)))
            rows.append({"date": date, "years": years, **known[start]})
    table = pd.DataFrame(rows).astype(dict.fromkeys(WHOLE, "Int64"))
    return table.astype(dict.fromkeys(table.columns.difference([*WHOLE]), "Float64"))


@metric("structure")
def consulting(run: Run) -> pd.DataFrame:
    """The network of consultations at the end, compared with co-authorship (this project)."""
    asked = run.table("consultations").dropna(subset=["asker", "guest"])
    asked = asked[asked["asker"] != asked["guest"]]
    pairs = set(zip(asked["asker"], asked["guest"], strict=True))
    people = asked[["asker", "guest"]].nunique()
    counts = {"asked": len(asked), "pairs": len(pairs)} | people.add_suffix("s").to_dict()
    ends = np.sort(asked[["asker", "guest"]].to_numpy(dtype=object), axis=1)
    rows = pd.DataFrame(ends, columns=["source", "target"]).assign(date=asked["date"].array)
    first = rows.groupby(["source", "target"])["date"].min()
    tied = run.table("ties").groupby(["source", "target"])["date"].min().reindex(first.index)
    network = network_statistics(adjacency(first.reset_index().assign(papers=1)))
    shares = {
        "reciprocity": pd.Series([pair[::-1] in pairs for pair in pairs], dtype=float).mean(),
        "tied_before": (tied < first).fillna(False).mean(),
        "tied_after": (tied >= first).fillna(False).mean(),
        "clustering": network["clustering"],
        "giant_share": network["giant_share"],
        "most_asked": asked["guest"].value_counts(normalize=True).max(),
    }
    kinds = dict.fromkeys(counts, "Int64") | dict.fromkeys(shares, "Float64")
    return pd.DataFrame([counts | shares]).astype(kinds)


EXACT = 1024
"""Scientists up to which shortest paths start from everybody; above, from a sample."""
SOURCES = 256


def largest_component(matrix: sparse.csr_array) -> sparse.csr_array:
    """The largest component of a network; on a tie, the component of the first node."""
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
    # In parts, to limit the memory of the distance table.
    parts = np.array_split(sources, len(sources) // 64 + 1)
    steps = sum(sparse.csgraph.dijkstra(matrix, unweighted=True, indices=at).sum() for at in parts)
    return float(steps / (len(sources) * (nodes - 1)))
