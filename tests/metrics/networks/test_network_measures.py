"""Paths and communities, against networkx and known cases."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from virsci_society.metrics.networks import communities as grouping
from virsci_society.metrics.networks.communities import communities, leiden, louvain, modularity
from virsci_society.metrics.networks.structure import largest_component, mean_path


def matrix_of(graph):
    return sparse.csr_array(nx.to_scipy_sparse_array(graph, dtype=float, format="csr"))


GRAPHS = {
    "karate": nx.Graph(nx.karate_club_graph().edges),
    "random": nx.gnp_random_graph(200, 0.03, seed=1),
    "attachment": nx.barabasi_albert_graph(300, 3, seed=2),
    "ring": nx.watts_strogatz_graph(120, 6, 0.1, seed=3),
    "star": nx.star_graph(20),
}


@pytest.fixture(params=GRAPHS)
def graph(request):
    return GRAPHS[request.param]


def test_mean_path_is_that_of_networkx(graph):
    whole = largest_component(matrix_of(graph))
    part = graph.subgraph(max(nx.connected_components(graph), key=len))
    assert whole.shape[0] == len(part)
    expected = nx.average_shortest_path_length(part)
    assert mean_path(whole, np.random.default_rng(0)) == pytest.approx(expected)


def test_modularity_is_that_of_networkx(graph):
    matrix = matrix_of(graph)
    label = louvain(matrix, 1)
    groups = [set(np.flatnonzero(label == one).tolist()) for one in np.unique(label)]
    plain = nx.convert_node_labels_to_integers(graph)
    assert modularity(matrix, label) == pytest.approx(nx.community.modularity(plain, groups))


def test_two_cliques_joined_by_a_tie_are_two_communities(make_run):
    """Modularity: 12 of 13 ties inside, less two halves squared."""
    names = [f"S{n}" for n in range(8)]
    cliques = [(a, b) for part in (names[:4], names[4:]) for a in part for b in part if a < b]
    ties = [(a, b, 5.0, 1) for a, b in [*cliques, ("S3", "S4")]]
    table = communities(make_run({"ties": ties})).set_index(["date", "network"])
    row = table.loc[(100.0, "grown")]
    assert row[["method", "communities", "largest"]].tolist() == ["louvain", 2, 0.5]
    assert row["modularity"] == pytest.approx(12 / 13 - 0.5)
    assert table.loc[(0.0, "grown"), "communities"] == 0
    assert table["modularity"].isna().tolist() == [True, True, False, False]


def test_large_networks_go_to_leiden_or_say_why_not(monkeypatch):
    matrix = matrix_of(GRAPHS["karate"])
    monkeypatch.setattr(grouping, "LARGE", 10)
    monkeypatch.setattr(grouping, "find_spec", lambda name: None)
    told = grouping.detect_communities(matrix, 1)
    assert "[scale]" in told["method"]
    assert told["communities"] is None


def test_leiden_finds_what_louvain_finds_and_always_the_same():
    pytest.importorskip("networkit", reason="needs the extra [scale]")
    matrix = matrix_of(nx.planted_partition_graph(4, 40, 0.4, 0.02, seed=1))
    labels = [leiden(matrix, 7) for _ in range(3)]
    assert all((one == labels[0]).all() for one in labels)
    assert pd.crosstab(labels[0], np.repeat(range(4), 40)).max().sum() >= 155
    assert modularity(matrix, labels[0]) == pytest.approx(
        modularity(matrix, louvain(matrix, 7)), abs=0.02
    )
