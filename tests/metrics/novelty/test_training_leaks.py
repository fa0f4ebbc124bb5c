"""Leaks: the training cut-off beside the boundary, and what abstracts share with later papers."""

import numpy as np
import pytest

from virsci_society.metrics.novelty.novelty import Database, Databases
from virsci_society.metrics.novelty.training_leaks import longest_run, run_leaks, training_cutoff
from virsci_society.metrics.registry import compute_metric
from virsci_society.metrics.report.page import render_page
from virsci_society.society.results.run import Vectors

PLANTED = "the tide of the northern shore turns twice before the moon has set"
LATER = ["Nothing here.", f"A paper says that {PLANTED}, and more.", "Nothing there."]


def side(texts, letter):
    """Papers along a quarter circle, so that the first is the nearest to the x axis."""
    angles = np.linspace(0.1, 1.5, len(texts)) if texts else np.zeros(0)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    ids = tuple(f"{letter}{n}" for n in range(len(texts)))
    years = np.full(len(texts), 2016)
    return Database(vectors, years, np.ones(len(texts)), ids, lambda row: texts[row])


@pytest.fixture
def leaking(make_run, rows):
    """The hand-made run, with an abstract that holds the planted passage."""

    def build(past=("We join hands.",), later=LATER, **manifest):
        paper = list(rows["papers"][0])
        paper[3] = f"We join. {PLANTED.upper()}! We end."
        rows["papers"] = [tuple(paper)]
        databases = Databases(side(list(past), "P"), side(list(later), "C"))
        vectors = Vectors(("S1/1",), np.array([[1.0, 0.0]], dtype=np.float32))
        return make_run(rows, manifest, vectors=vectors, databases=databases)

    return build


def test_the_longest_run_by_hand():
    one, other = ["a", "b", "c", "d", "e", "f", "c", "d"], ["x", "c", "d", "e", "y", "c", "d", "q"]
    assert longest_run(one, other) == (3, 2)
    assert longest_run(other, one) == (3, 1)
    assert longest_run(one, one) == (8, 0)
    assert longest_run(["b", "a", "b"], ["b", "a", "a", "b"]) == (2, 0)
    assert longest_run([], one) == longest_run(one, []) == (0, 0)
    assert longest_run(["a"], ["b"]) == (0, 0)


def test_a_planted_passage_is_found_with_the_paper_it_is_from(leaking):
    row = run_leaks(leaking()).iloc[0]
    assert row["shared"] == len(PLANTED.split()) == 13
    assert row["shared_text"] == PLANTED
    assert row["shared_with"] == "C1"
    assert row["nearest"] == "C0"
    assert row["similarity"] == pytest.approx(np.cos(0.1))
    assert row["past_shared"] == 2
    assert row["past_similarity"] == pytest.approx(np.cos(0.1))


def test_without_a_contemporary_side_it_is_unknown(leaking):
    row = run_leaks(leaking(later=())).iloc[0]
    assert row[["similarity", "nearest", "shared", "shared_with", "shared_text"]].isna().all()
    assert row["past_shared"] == 2


def test_a_run_opened_without_databases_has_what_was_written_with_it(leaking, empty_run):
    run = leaking()
    table = compute_metric(run, "leaks")
    run.databases = None
    assert compute_metric(run, "leaks") is table
    assert len(run_leaks(empty_run)) == 0
    assert list(run_leaks(empty_run).columns) == list(table.columns)


MODEL = {"use": "openai", "model": "m", "about": "m, a language model"}


@pytest.mark.parametrize(
    ("cutoff", "boundary", "after", "said"),
    [
        ("2014-12", 2015, False, "is 2014-12. It was trained before the years"),
        ("2015", 2015, True, "is 2015. It may have read papers"),
        ("2023-12", 2015, True, "is 2023-12. It may have read papers"),
        (None, 2015, None, "cut-off is unknown, for none is stated."),
        ("2023-12", None, None, "The boundary is unknown; the model's stated training cut-off is"),
    ],
)
def test_the_cut_off_stands_beside_the_boundary(cutoff, boundary, after, said):
    found = training_cutoff({"boundary": boundary, "backend": {**MODEL, "cutoff": cutoff}})
    assert found.after is after
    assert said in found.sentence
    assert (found.stated, found.boundary) == (cutoff or "", boundary)


def test_rules_have_no_cut_off():
    about = {"use": "offline", "about": "rule-based scientists, not a language model"}
    found = training_cutoff({"boundary": 2015, "backend": about})
    assert found.sentence == "The boundary is 1 January 2015. Rules have no training cut-off."


@pytest.mark.slow
def test_the_page_tells_both(leaking):
    told = render_page(leaking(backend={**MODEL, "cutoff": "2023-12"}))
    assert "stated training cut-off is 2023-12. It may have read" in told.replace("&#39;", "'")
    assert (
        "mean length of the longest passage that a paper shares with a contemporary paper" in told
    )
