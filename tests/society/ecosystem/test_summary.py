"""Figures of an ecosystem, worked by hand and beside a real community."""

import math

import numpy as np
import pytest

from tests.society.ecosystem.raw_records import SHAPE, build_ecosystem
from virsci_society.society.ecosystem import summary
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.summary import FIGURES, gini, measure
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic


@pytest.fixture(scope="module")
def vis(vis_folder):
    return Ecosystem.load(vis_folder)


def test_figures_by_hand(records):
    figures = measure(build_ecosystem(records, boundary=2010))
    assert figures["past papers"] == 4
    assert figures["contemporary papers"] == 2
    assert figures["scientists"] == figures["authors"] == 3
    assert figures["team size"] == pytest.approx((2 + 3 + 2 + 1) / 4)
    assert figures["papers per scientist"] == pytest.approx((4 + 3 + 2) / 3)
    assert figures["productivity Gini"] == pytest.approx(4 / 27)
    assert figures["co-authors per scientist"] == 2
    assert figures["repeat collaboration"] == pytest.approx(2 / 3)
    assert figures["clustering"] == 1.0
    assert figures["citations per past paper"] == pytest.approx(5 / 4)
    assert figures["citation tail"] == pytest.approx(3 / 5)


@pytest.mark.parametrize(
    ("values", "expected"), [([5, 5, 5], 0.0), ([0, 0, 1], 2 / 3), ([1, 3], 0.25), ([4], 0.0)]
)
def test_gini_by_hand(values, expected):
    assert gini(np.array(values, dtype=float)) == pytest.approx(expected)


def test_clustering_is_that_of_a_known_library():
    import networkx as nx

    ecosystem = Synthetic(scientists=40, papers=300).generate(2)
    graph = nx.from_scipy_sparse_array(ecosystem.coauthors)
    local = nx.clustering(graph)
    several = [local[node] for node, degree in graph.degree if degree > 1]
    assert measure(ecosystem)["clustering"] == pytest.approx(np.mean(several))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary, "BLOCK", 7)
        assert measure(ecosystem)["clustering"] == pytest.approx(np.mean(several))


def test_nothing_to_measure_is_not_a_number(records):
    nobody = measure(build_ecosystem(records, boundary=2010, min_papers=99))
    assert math.isnan(nobody["papers per scientist"])
    assert math.isnan(nobody["clustering"])
    assert math.isnan(nobody["productivity Gini"])
    assert nobody["team size"] == 2.0


@pytest.mark.slow
def test_the_stored_figures_are_those_of_the_real_community(vis):
    expected = {name: value for name, (value, _) in FIGURES.items()}
    assert measure(vis) == pytest.approx(expected, rel=1e-3)


@pytest.mark.slow
def test_the_synthetic_default_lies_within_a_factor_of_two():
    figures = measure(Synthetic().generate(1))
    for name in SHAPE:
        assert FIGURES[name][0] / 2 <= figures[name] <= FIGURES[name][0] * 2, name


@pytest.mark.slow
def test_the_real_community_is_whole_and_leaks_nothing(vis):
    assert vis.counts == {"past": 2157, "contemporary": 2077, "scientists": 253}
    assert all(p.papers >= 5 and p.interests for p in vis.profiles)
    assert max(p.year for p in vis.past) == 2011
    assert all(start <= 2011 for start in vis.career_starts if start)
    assert sum(p.citations for p in vis.past) < sum(p.citations for p in vis.contemporary)
    assert (vis.coauthors != vis.coauthors.T).nnz == 0
    assert np.allclose(np.linalg.norm(vis.past_vectors, axis=1), 1, atol=1e-3)
