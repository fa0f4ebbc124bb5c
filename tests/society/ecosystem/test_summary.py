"""Figures of an ecosystem, worked by hand and beside a real community."""

import math

import numpy as np
import pytest

from tests.society.ecosystem.raw_records import SHAPE, build_ecosystem
from virsci_society.society.ecosystem import summary
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.summary import (
    DEFINITIONS,
    VIS,
    describe,
    gini,
    measure,
    topics,
)
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


def test_gini_of_nothing_is_not_a_number():
    assert math.isnan(gini(np.zeros(0)))
    assert math.isnan(gini(np.zeros(3)))


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
    assert nobody["team size"] == 2.0


def test_the_table_has_a_row_and_a_definition_for_each_figure(records):
    table = describe(build_ecosystem(records, boundary=2010))
    assert list(table.columns) == ["figure", "value", "vis", "definition"]
    assert list(table.figure) == list(DEFINITIONS) == list(VIS)
    assert set(SHAPE) < set(VIS)
    assert not table.definition.isna().any()


def test_topics_are_counted(records):
    assert topics(build_ecosystem(records, boundary=2010)) == {"trees": 3}


@pytest.mark.slow
def test_the_stored_figures_are_those_of_the_real_community(vis):
    assert measure(vis) == pytest.approx(VIS, rel=1e-3)


@pytest.mark.slow
def test_the_synthetic_default_lies_within_a_factor_of_two():
    figures = measure(Synthetic().generate(1))
    for name in SHAPE:
        assert VIS[name] / 2 <= figures[name] <= VIS[name] * 2, name


@pytest.mark.slow
def test_the_real_community_is_whole_and_leaks_nothing(vis):
    assert vis.counts == {"past": 2157, "contemporary": 2077, "scientists": 253}
    assert all(p.papers >= 5 and p.interests for p in vis.profiles)
    assert max(p.year for p in vis.past) == 2011
    assert all(start <= 2011 for start in vis.career_starts if start)
    assert sum(p.citations for p in vis.past) < sum(p.citations for p in vis.contemporary)
    assert (vis.coauthors != vis.coauthors.T).nnz == 0
    assert np.allclose(np.linalg.norm(vis.past_vectors, axis=1), 1, atol=1e-3)


@pytest.mark.slow
def test_a_search_in_the_real_community_finds_its_subject(vis):
    from virsci_society.society.literature.literature import Literature

    literature = Literature(vis.past, vis.past_vectors, vis.embedding, vis.boundary)
    hits = literature.search("flow topology of vector fields", 5, literature.visible(0.0))
    assert sum("flow" in h.title.lower() or "vector" in h.title.lower() for h in hits) >= 4
    early = literature.search("flow topology of vector fields", 5, literature.visible(-4000.0))
    assert all(hit.year < 2012 - 10 for hit in early)
