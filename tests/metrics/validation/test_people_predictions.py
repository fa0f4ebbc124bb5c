"""Predictions about people and pairs: values by outside code, a planted field and a null field."""

import itertools

import networkx as nx
import numpy as np
import pytest

from virsci_society.metrics.inference.two_lines import logistic_fit
from virsci_society.metrics.validation.dated_papers import DatedPaper
from virsci_society.metrics.validation.people_predictions import (
    SOCIETY,
    TARGETS,
    auc_and_precision,
    candidates_at,
    events_in,
    predict_people,
    rival_scores,
    verdicts,
)
from virsci_society.society.literature.papers import DAYS_PER_YEAR

PEOPLE = tuple(f"P{number:02d}" for number in range(150))


def field(seed, close_triads):
    """Papers of ten years by pairs drawn at random, or by friends of friends."""
    rng = np.random.default_rng(seed)
    graph, papers = nx.Graph(), []
    graph.add_nodes_from(PEOPLE)
    for year in range(-8, 2):
        for _ in range(30):
            a, b = (PEOPLE[at] for at in rng.choice(len(PEOPLE), 2, replace=False))
            near = sorted({n for m in graph[a] for n in graph[m]} - {a, *graph[a]})
            if close_triads and near and year > -6:
                b = near[int(rng.integers(len(near)))]
            graph.add_edge(a, b)
            papers.append(DatedPaper((year + rng.random()) * DAYS_PER_YEAR, (a, b)))
    past = [one for one in papers if one.date < 0]
    return past, [one for one in papers if one.date >= 0]


def test_area_and_precision_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    for _ in range(20):
        scores, happened = rng.integers(0, 6, 50).astype(float), rng.random(50) < 0.3
        weights = rng.integers(0, 4, 50).astype(float)
        rank = np.unique(scores, return_inverse=True)[1]
        auc, precision = auc_and_precision(rank, happened, weights)
        assert auc == pytest.approx(metrics.roc_auc_score(happened, scores, sample_weight=weights))
        expected = metrics.average_precision_score(happened, scores, sample_weight=weights)
        assert precision == pytest.approx(expected)
    assert np.isnan(auc_and_precision(rank, np.zeros(50, bool), weights)).all()


def test_the_logistic_model_is_that_of_scikit_learn():
    linear = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(4)
    features = rng.normal(size=(300, 3))
    happened = rng.random(300) < 1 / (1 + np.exp(1 - features @ [1.0, -0.5, 0.0]))
    model = linear.LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(features, happened)
    beta = logistic_fit(features, happened)
    assert beta == pytest.approx([*model.intercept_, *model.coef_[0]], abs=1e-4)


def test_scores_of_pairs_are_those_of_networkx():
    past, _ = field(1, close_triads=True)
    known = candidates_at(past, frozenset(PEOPLE), 0.0, 2.0)
    graph = nx.Graph((a, b) for one in past for a, b in itertools.combinations(one.authors, 2))
    graph = graph.subgraph(known.names)
    scores = rival_scores(known)["new tie"]
    at = {name: number for number, name in enumerate(known.names)}
    pairs = list(nx.non_edges(graph))
    for name, function in (
        ("Adamic-Adar", nx.adamic_adar_index),
        ("preferential attachment", nx.preferential_attachment),
    ):
        for a, b, value in function(graph, pairs):
            assert scores[name][at[a], at[b]] == pytest.approx(value)
    for a, b in pairs:
        assert scores["common neighbours"][at[a], at[b]] == len(
            set(nx.common_neighbors(graph, a, b))
        )


def test_the_later_papers_themselves_predict_everything():
    past, later = field(2, close_triads=False)
    found = predict_people(past, later, [later], frozenset(PEOPLE), 2.0).set_index("predictor")
    society = found.loc[SOCIETY]
    assert tuple(society["target"]) == TARGETS
    assert (society["auc"] == 1).all()
    assert (society["precision"] == 1).all()
    people = society[:3]
    assert (people["expected"] == people["observed"]).all()
    assert (people["brier_skill"] == 1).all()
    # Half of the probability of a tie is that of one more run, in which ties are drawn at random.
    assert (society[3:]["brier_skill"] > 0.5).all()
    assert verdicts(found.reset_index())[-1].startswith("The society predicts better than each")


@pytest.mark.slow
def test_planted_triads_are_predicted_by_common_neighbours_and_chance_by_nothing():
    for close_triads, low, high in ((True, 0.7, 1.0), (False, 0.4, 0.6)):
        areas = []
        for seed in range(3):
            past, later = field(seed, close_triads)
            found = predict_people(past, later, [], frozenset(PEOPLE), 2.0)
            rows = found[(found["target"] == "new tie") & (found["predictor"] == "Adamic-Adar")]
            areas.append(float(rows["auc"].iloc[0]))
            assert SOCIETY not in set(found["predictor"])
        assert low <= np.mean(areas) <= high, (close_triads, areas)


def test_a_society_that_misses_what_common_neighbours_decide_is_called_worse_first():
    past, later = field(2, close_triads=True)
    blind = [field(seed, close_triads=False)[1] for seed in range(8)]
    found = predict_people(past, later, blind, frozenset(PEOPLE), 2.0)
    first = verdicts(found)[0]
    assert first.startswith("The society predicts less well than its best rival (AUC): ")
    assert "new tie" in first
    rows = found[found["target"] == "new tie"].set_index("predictor")
    assert rows.loc[SOCIETY, "auc"] < 0.6 < rows.loc["common neighbours", "auc"]


def test_events_are_those_of_the_window_alone():
    papers = [
        DatedPaper(-10.0, ("A", "B")),
        DatedPaper(10.0, ("B", "A", "X")),
        DatedPaper(800.0, ("C", "A")),
    ]
    found = events_in(papers, ("A", "B", "C"), 0.0, 2.0)
    assert found.publishes.tolist() == [True, True, False]
    assert found.leads.tolist() == [False, True, False]
    assert np.argwhere(found.ties).tolist() == [[0, 1], [1, 0]]
