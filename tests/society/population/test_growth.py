"""Figures kept up to date pair by pair are those counted from the whole network."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from virsci_society import ScenarioSociety
from virsci_society.metrics.registry import measure_run
from virsci_society.society.population.network import CoauthorNetwork
from virsci_society.society.results.dataframes import build_tables
from virsci_society.society.results.run import Run

FIGURES = ("coauthors_per_author", "giant_component_authors", "repeat_rate")


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_networkx_after_every_paper(seed):
    rng = np.random.default_rng(seed)
    base = sparse.lil_array((60, 60), dtype=np.int64)
    base[0, 1] = base[1, 0] = 2
    day = [0.0]
    network = CoauthorNetwork(base.tocsr(), lambda: day[0])
    graph, met, joint, repeats = nx.Graph(), {(0, 1)}, 0, 0
    for number in range(60):
        day[0] = float(number // 2)
        authors = rng.choice(60, rng.integers(1, 5), replace=False).tolist()
        network.record_paper(authors)
        graph.add_nodes_from(authors)
        for pair in combinations(sorted(authors), 2):
            joint, repeats = joint + 1, repeats + (pair in met)
            met.add(pair)
            graph.add_edge(*pair)
        if joint:
            parts = max(len(part) for part in nx.connected_components(graph))
            assert network.giant_component_authors == parts / len(graph)
            assert network.coauthors_per_author == 2 * graph.number_of_edges() / len(graph)
            assert network.repeat_rate == repeats / joint
    assert repeats > 0


def test_they_are_the_measures_of_the_run():
    few = {"population.ecosystem.scientists": 14, "population.ecosystem.papers": 120}
    society = ScenarioSociety("quickstart", seed=3, **{"metrics": []}, **few)
    society.run_to_end()
    last = society.datacollector.get_model_vars_dataframe().iloc[-1]
    run = Run(build_tables(society.log.all_rows()), {"seed": 3, "days": society.until}, {})
    for name, value in measure_run(run, FIGURES).items():
        assert last[name] == pytest.approx(value), name
    assert last["repeat_rate"] > 0
