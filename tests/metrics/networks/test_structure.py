from collections import Counter

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from virsci_society.metrics.networks.structure import adjacency, network_statistics, structure


def reference(papers, alone=()):
    """The same numbers from networkx, of joint papers by pair and people who may have none."""
    graph = nx.Graph()
    graph.add_nodes_from(alone)
    graph.add_weighted_edges_from((a, b, count) for (a, b), count in papers.items())
    parts = list(nx.connected_components(graph))
    return {
        "nodes": len(graph),
        "edges": graph.number_of_edges(),
        "weight": graph.size(weight="weight"),
        "mean_degree": 2 * graph.number_of_edges() / len(graph),
        "giant_share": max(map(len, parts)) / len(graph),
        "components": len(parts),
        "clustering": nx.average_clustering(graph),
        "transitivity": nx.transitivity(graph),
        "assortativity": nx.degree_assortativity_coefficient(graph),
    }


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_networkx(seed, make_run):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 40, size=(90, 2))
    ties = [
        (f"S{min(a, b)}", f"S{max(a, b)}", float(day), int(papers))
        for (a, b), day, papers in zip(
            pairs, rng.integers(-50, 100, 90), rng.integers(1, 4, 90), strict=True
        )
        if a != b
    ]
    table = structure(make_run({"ties": ties}), every=25.0).set_index(["network", "date"])
    for day in (0.0, 25.0, 50.0, 75.0, 100.0):
        for network, start in (("all", -np.inf), ("grown", 0.0)):
            chosen = Counter()
            for a, b, date, papers in ties:
                chosen[a, b] += papers * (start <= date <= day)
            chosen = +chosen
            if not chosen:
                continue
            row = table.loc[(network, day)]
            for name, value in reference(chosen).items():
                if np.isnan(value):
                    assert row[name] is pd.NA
                else:
                    assert row[name] == pytest.approx(value), (network, day, name)


def test_the_hand_made_run(run):
    table = structure(run, every=50.0).set_index(["network", "date"])
    assert table.loc[("all", 0.0), "edges"] == 3
    assert table.loc[("all", 0.0), "weight"] == 6
    assert table.loc[("grown", 0.0), "edges"] == 0
    assert table.loc[("grown", 50.0), ["nodes", "edges", "weight"]].tolist() == [4, 6, 6]
    assert table.loc[("grown", 100.0), "clustering"] == 1.0
    assert table.loc[("all", 100.0), ["nodes", "edges", "weight"]].tolist() == [6, 8, 12]


def test_a_tie_with_oneself_is_no_tie():
    ties = pd.DataFrame({"source": ["a", "a"], "target": ["a", "b"], "papers": [1, 1]})
    assert network_statistics(adjacency(ties))["edges"] == 1
