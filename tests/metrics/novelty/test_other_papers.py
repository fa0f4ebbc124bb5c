"""Finished runs against the papers of other ecosystems, without a call."""

import numpy as np
import pandas as pd
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.metrics.novelty.novelty import (
    Database,
    means_by_embedding,
    novelty_agreement,
    novelty_by_embedding,
    novelty_scores,
)
from virsci_society.metrics.novelty.other_papers import databases_of
from virsci_society.metrics.registry import compute_metric
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.execute import run_scenario
from virsci_society.society.ecosystem.build import paper_texts
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.results.run import Run

PARTS = ["HD", "CD", "CI", "ON"]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The folders of two ecosystems of the same years and of a run that starts from the first."""
    folder = tmp_path_factory.mktemp("worlds")
    Synthetic(scientists=12, papers=90, fields=2).generate(1).save(folder / "own")
    Synthetic(scientists=20, papers=120, fields=2).generate(8).save(folder / "other")
    ecosystem = {"use": "folder", "path": str(folder / "own")}
    scenario = load_scenario(
        "virsci/paper", **{"population.ecosystem": ecosystem, "protocol.neighbour_query": "idea"}
    )
    run_scenario(scenario, folder / "run", page=False)
    return folder


@pytest.fixture
def finished(here):
    return Run.open(here / "run")


def scores(table):
    return table[PARTS].astype(float).to_numpy()


def test_against_its_own_papers_nothing_changes(finished, here):
    again = compute_metric(finished, "novelty", past=here / "own")
    assert len(again) == len(finished.table("papers")) > 0
    assert again.astype(str).equals(finished.metric("novelty").astype(str))


def test_against_others_it_is_the_novelty_measure_with_those_papers(finished, here):
    table = compute_metric(finished, "novelty", past=here / "own", contemporary=here / "other")
    own, other = Ecosystem.load(here / "own"), Ecosystem.load(here / "other")
    past, later = own.past, other.contemporary
    encoded = own.embedding.encode(paper_texts(later))
    expected = novelty_scores(
        finished.vectors.values,
        Database(own.past_vectors, past.years, past.citations, [one.id for one in past]),
        Database(encoded, later.years, later.citations, [one.id for one in later]),
        ids=finished.vectors.ids,
    )
    np.testing.assert_allclose(scores(table), scores(expected), rtol=1e-6)
    before = finished.metric("novelty")
    assert (table["HD"] == before["HD"]).all()
    assert (table["CD"] != before["CD"]).any()


def test_another_embedding_is_fitted_on_the_past(finished, here):
    own = Ecosystem.load(here / "own")
    same = compute_metric(finished, "novelty", past=here / "own", embedding=own.embedding.name)
    np.testing.assert_allclose(scores(same), scores(finished.metric("novelty")), rtol=1e-5)
    narrow = compute_metric(finished, "novelty", past=here / "own", embedding="lsa:8")
    assert (narrow["HD"] != finished.metric("novelty")["HD"]).all()


def test_novelty_in_two_embeddings_and_how_far_they_agree(finished, here):
    finished.scenario["novelty"] = {"embeddings": ["own", "lsa:8"]}
    told = []
    own = databases_of(Ecosystem.load(here / "own"), lambda *done: told.append(done))
    run = Run(
        finished.tables(),
        finished.manifest,
        finished.scenario,
        vectors=finished.vectors,
        databases=own,
    )
    table = novelty_by_embedding(run)
    papers = len(finished.table("papers"))
    assert table["embedding"].tolist() == [own.embedding.title] * papers + ["LSA 8"] * papers
    assert told[-1] == (90, 90, 0)
    np.testing.assert_allclose(scores(table[:papers]), scores(finished.metric("novelty")))
    narrow = compute_metric(finished, "novelty", past=here / "own", embedding="lsa:8")
    np.testing.assert_allclose(scores(table[papers:]), scores(narrow))
    agreement = novelty_agreement(run).set_index("measure")
    assert agreement.index.tolist() == PARTS
    assert set(agreement["papers"]) == {papers}
    assert agreement["other_mean"]["HD"] == pytest.approx(narrow["HD"].mean())
    # One embedding, or a run whose papers are not at hand, has nothing to agree.
    assert not len(compute_metric(finished, "novelty_agreement"))


def test_ranks_that_agree_and_ranks_that_do_not(finished):
    """Five papers in two embeddings: HD in the same order, CD in the opposite one, ON unknown."""
    rows = []
    for place in range(5):
        rows.append(("A", "A", f"p{place}", place, place, 5 - place, None))
        rows.append(("B", "B", f"p{place}", place**2, -place, [5, 4, 3, 1, 2][place], 1.0))
    columns = ["embedding", "label", "paper", "HD", "CD", "CI", "ON"]
    finished.add_metric("novelty_by_embedding", pd.DataFrame(rows, columns=columns))
    found = novelty_agreement(finished).set_index("measure")
    assert found["rank_correlation"][["HD", "CD", "CI"]].tolist() == pytest.approx([1.0, -1.0, 0.9])
    assert (found["mean"]["HD"], found["other_mean"]["HD"]) == (2.0, 6.0)
    assert found["papers"].tolist() == [5, 5, 5, 0]
    means = means_by_embedding(finished, ["teams", "CD", "HD"])
    assert means == {"HD by B": 6.0, "CD by B": -2.0}
    assert pd.isna(found["rank_correlation"]["ON"])


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["lsa:8"], "own first"),
        (["own", "own"], "each embedding once"),
        (["own", "word2vec"], "is not known"),
        (["own", "lsa+litellm:openai/x"], "makes no call"),
    ],
)
def test_embeddings_that_cannot_be_measured_in_are_told_when_the_scenario_is_read(names, said):
    with pytest.raises(InputError, match=said):
        load_scenario("quickstart", novelty={"embeddings": names})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"embedding": "litellm:openai/x"}, "would have to be asked for"),
        ({"embedding": "nonsense"}, "is not known"),
        ({"contemporary": "nowhere"}, "nowhere"),
    ],
)
def test_what_cannot_be_measured_with_is_refused(finished, here, change, said):
    if "contemporary" in change:
        change = {"contemporary": here / change["contemporary"]}
    with pytest.raises(InputError, match=said):
        compute_metric(finished, "novelty", past=here / "own", **change)


def test_papers_that_the_society_knew_are_refused(finished, here):
    finished.manifest["boundary"] += 1
    with pytest.raises(InputError, match="the society knew some of them"):
        compute_metric(finished, "novelty", past=here / "own")
    finished.manifest["boundary"] -= 2
    with pytest.raises(InputError, match="after the run's boundary"):
        compute_metric(finished, "novelty", past=here / "own")


def test_only_novelty_is_measured_against_other_papers(finished, here):
    with pytest.raises(InputError, match="only the metric 'novelty'"):
        compute_metric(finished, "teams", past=here / "own")
