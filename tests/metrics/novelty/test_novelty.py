"""The measures against a hand-worked example and against an independent computation."""

import dataclasses

import numpy as np
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.metrics.novelty import nearest_papers
from virsci_society.metrics.novelty.novelty import (
    Database,
    Databases,
    Novelty,
    evaluated_words,
    measured_texts,
    novelty_scores,
    run_novelty,
)
from virsci_society.society.literature.embedding.lsa import LSAEmbedding

SQUARE = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], dtype=np.float32)


def database(vectors, years, citations=None, letter="P"):
    ids = tuple(f"{letter}{n:03d}" for n in range(len(vectors)))
    given = None if citations is None else np.asarray(citations, dtype=float)
    return Database(np.asarray(vectors, dtype=np.float32), np.asarray(years), given, ids)


def one(x, past, contemporary, **settings):
    """The single row of one abstract."""
    return novelty_scores(
        np.array([x], dtype=np.float32), past, contemporary, Novelty(**settings)
    ).iloc[0]


def test_a_hand_worked_example():
    """x = (1, 0); the four corners are 0, sqrt 2, 2, sqrt 2 away."""
    past = database(SQUARE, [2010] * 4)
    con = database(SQUARE, [2016, 2016, 2017, 2017], [10, 20, 30, 50], "C")
    root = np.sqrt(2)
    row = one([1, 0], past, con, k=2)
    assert row["past_neighbours"] == "P000 P001"
    assert row["contemporary_neighbours"] == "C000 C001"
    assert row["HD_raw"] == pytest.approx((0 + root) / 2)
    # Both past neighbours are of 2010, whose mean distance from x is (0 + 2 root + 2) / 4.
    assert row["HD"] == pytest.approx((0 + root) / 2 / ((2 * root + 2) / 4))
    # Both contemporary neighbours are of 2016: mean distance (0 + root) / 2, citations 15.
    assert row["CD"] == pytest.approx((0 + root) / 2 / (root / 2))
    assert row["CI_raw"] == pytest.approx(15)
    assert row["CI"] == pytest.approx(1.0)
    assert row["ON"] == pytest.approx(row["HD"] * row["CI"] / row["CD"])
    assert row[["HD_fallbacks", "CD_fallbacks", "CI_fallbacks", "CI_unknown"]].tolist() == [0] * 4


def test_distances_are_not_squared_unless_asked_for():
    past = database(SQUARE, [2010] * 4)
    con = database(SQUARE, [2016] * 4, [1, 1, 1, 1])
    plain = one([1, 0], past, con, k=4, normalise="none")
    squared = one([1, 0], past, con, k=4, normalise="none", squared=True)
    assert plain["HD"] == pytest.approx((0 + 2 * np.sqrt(2) + 2) / 4)
    assert squared["HD"] == pytest.approx((0 + 2 + 2 + 4) / 4)
    assert squared["CI"] == plain["CI"] == 1


def test_a_year_with_zero_mean_falls_back_and_is_counted():
    vectors = [[1, 0], [1, 0], [0, 1], [-1, 0]]
    past = database(vectors, [2010, 2010, 2011, 2011])
    con = database(vectors, [2016] * 4, [0, 0, 7, 9])
    row = one([1, 0], past, con, k=3)
    gaps = np.array([0, 0, np.sqrt(2), 2])
    expected = (0 + 0 + np.sqrt(2) / ((np.sqrt(2) + 2) / 2)) / 3
    assert row["HD"] == pytest.approx(expected)
    assert row["HD_fallbacks"] == 2
    assert row["CD"] == pytest.approx(gaps[:3].mean() / gaps.mean())
    empty_year = database(vectors, [2016, 2016, 2017, 2017], [0, 0, 7, 9])
    row = one([1, 0], past, empty_year, k=2)
    assert row["CI_fallbacks"] == 2
    assert row["CI"] == 0


def test_missing_citations_are_left_out_and_counted():
    past = database(SQUARE, [2010] * 4)
    con = database(SQUARE, [2016] * 4, [4, np.nan, np.nan, 8])
    row = one([1, 0], past, con, k=3)
    assert row["contemporary_neighbours"] == "P000 P001 P003"
    assert row["CI_unknown"] == 1
    assert row["CI_raw"] == pytest.approx(6)
    assert row["CI"] == pytest.approx(1)


@pytest.mark.parametrize("citations", [None, [np.nan] * 4])
def test_without_any_citation_ci_and_on_are_not_available(citations):
    past = database(SQUARE, [2010] * 4)
    con = database(SQUARE, [2016] * 4, citations)
    row = one([1, 0], past, con, k=3)
    assert row[["CI", "ON", "CI_raw"]].isna().all()
    assert row["CI_unknown"] == 3
    assert row["CD"] > 0


def test_fewer_papers_than_neighbours():
    past, con = database(SQUARE[:2], [2010] * 2), database(SQUARE[:1], [2016])
    row = one([1, 0], past, con, k=5)
    assert row["past_neighbours"] == "P000 P001"
    empty = database(np.zeros((0, 2)), [])
    row = one([1, 0], empty, con, k=5)
    assert row[["HD", "HD_raw", "ON"]].isna().all()
    assert row["past_neighbours"] == ""


def reference(x, vectors, years, citations, settings):
    """HD (or CD) and CI by another road: scikit-learn and loops."""
    from sklearn.neighbors import NearestNeighbors

    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if settings.unit else vectors
    x = x / np.linalg.norm(x) if settings.unit else x
    power = 2 if settings.squared else 1
    search = NearestNeighbors(n_neighbors=settings.k, algorithm="brute").fit(unit)
    gaps, hits = search.kneighbors(x[None])
    gaps, hits = gaps[0] ** power, hits[0]
    every = np.linalg.norm(unit - x, axis=1) ** power
    own, _ = NearestNeighbors(n_neighbors=settings.k + 1, algorithm="brute").fit(unit).kneighbors()
    own = (np.sort(own, axis=1)[:, : settings.k] ** power).mean(axis=1)

    def mean(rows):
        if settings.normalise == "query":
            return every[rows].mean()
        if settings.normalise == "self":
            return own[rows].mean()
        pairs = [np.linalg.norm(unit[a] - unit[b]) ** power for a in rows for b in rows if a != b]
        return np.mean(pairs) if pairs else 0.0

    parts, counts, fallbacks = [], [], 0
    for gap, hit in zip(gaps, hits, strict=True):
        of_year = np.flatnonzero(years == years[hit])
        known = of_year[~np.isnan(citations[of_year])]
        if settings.normalise == "none":
            parts.append(gap)
            counts.append(citations[hit])
            continue
        fallen = len(of_year) < 2 or mean(of_year) == 0
        fallbacks += fallen
        parts.append(gap / (mean(np.arange(len(unit))) if fallen else mean(of_year)))
        usual = citations[known].mean() if len(known) > 1 else 0
        every_known = citations[~np.isnan(citations)]
        usual = usual if usual > 0 else every_known.sum() / max(len(every_known), 1) or np.nan
        counts.append(citations[hit] / usual)
    impact = np.nanmean(counts) if np.isfinite(counts).any() else np.nan
    return np.mean(parts), impact, fallbacks


@pytest.mark.sweep(3)
@pytest.mark.parametrize("normalise", ["query", "self", "pairwise", "none"])
@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("unit", [True, False])
def test_agrees_with_an_independent_computation(normalise, squared, unit, monkeypatch):
    monkeypatch.setattr(nearest_papers, "QUERIES", 3)
    monkeypatch.setattr(nearest_papers, "PAPERS", 17)
    rng = np.random.default_rng(5)
    settings = Novelty(normalise=normalise, squared=squared, unit=unit, k=5)
    vectors = [rng.normal(size=(n, 8)).astype(np.float32) for n in (60, 45)]
    years = [rng.choice([2009, 2010, 2011], 60), rng.choice([2016, 2017], 45)]
    years[0][7], years[1][3] = 1999, 2018
    citations = np.round(rng.lognormal(2, 1, 45))
    citations[rng.choice(45, 12, replace=False)] = np.nan
    past = database(vectors[0], years[0])
    con = database(vectors[1], years[1], citations, "C")
    queries = rng.normal(size=(8, 8)).astype(np.float32)
    table = novelty_scores(queries, past, con, settings)
    for row, x in zip(table.to_dict("records"), queries.astype(np.float64), strict=True):
        nothing = np.full(60, np.nan)
        hd, _, fallen = reference(x, vectors[0].astype(float), years[0], nothing, settings)
        cd, ci, _ = reference(x, vectors[1].astype(float), years[1], citations, settings)
        assert row["HD"] == pytest.approx(hd, abs=1e-6)
        assert row["CD"] == pytest.approx(cd, abs=1e-6)
        assert row["CI"] == pytest.approx(ci, abs=1e-6)
        assert row["ON"] == pytest.approx(hd * ci / cd, abs=1e-6)
        assert row["HD_fallbacks"] == fallen


def test_samples_are_seeded_and_close_to_the_whole():
    rng = np.random.default_rng(3)
    base = database(rng.normal(size=(400, 6)), [2001] * 400, rng.random(400))
    queries = rng.normal(size=(5, 6))
    for normalise in ("self", "pairwise"):
        exact = novelty_scores(queries, base, base, Novelty(normalise=normalise))["HD"].astype(
            float
        )
        drawn = Novelty(normalise=normalise, sample=150, seed=4)
        first = novelty_scores(queries, base, base, drawn)["HD"].astype(float)
        second = novelty_scores(queries, base, base, drawn)["HD"].astype(float)
        other = novelty_scores(queries, base, base, drawn.model_copy(update={"seed": 5}))["HD"]
        assert first.tolist() == second.tolist()
        assert first.tolist() != other.astype(float).tolist()
        np.testing.assert_allclose(first, exact, rtol=0.1)


def test_wrong_shapes_are_input_errors():
    with pytest.raises(InputError, match="expected n x d vectors and n of everything else"):
        database(SQUARE, [2010] * 3)
    with pytest.raises(InputError, match="one embedding"):
        novelty_scores(np.ones((1, 3)), database(SQUARE, [2010] * 4), database(SQUARE, [2010] * 4))


def test_a_run_is_measured_against_its_databases_or_as_it_was_written(run, make_run, empty_run):
    table = run_novelty(run)
    assert table["paper"].tolist() == ["S1/1"]
    assert table["ON"].notna().all()
    assert run_novelty(empty_run).empty
    assert list(run_novelty(empty_run).columns) == list(table.columns)
    assert run_novelty(make_run(databases=run.databases)).empty
    written = make_run(metrics={"novelty": table})
    assert run_novelty(written) is table


def test_the_hand_made_run(run):
    """x = (1, 0), unit vectors: past at 0, 0, root 2, root 2 and 2; k takes all five."""
    row = run_novelty(run).iloc[0]
    root = np.sqrt(2)
    assert row["past_neighbours"] == "P1 P5 P2 P4 P3"
    # P5 is alone in 2012: the database mean stands in. 2010 has mean root/2, 2011 (root + 2)/2.
    expected = (0 + 0 + root / (root / 2) + (root + 2) / ((root + 2) / 2)) / 5
    assert row["HD"] == pytest.approx(expected)
    assert row["HD_fallbacks"] == 1
    assert row["CI_unknown"] == 1
    # Citations 4 and 0 (2016, mean 2), 8 and 2 (2017, mean 5), one unknown.
    assert row["CI"] == pytest.approx((4 / 2 + 0 + 8 / 5 + 2 / 5) / 4)
    assert isinstance(run.databases, Databases)


def test_neighbours_are_found_by_the_idea_and_the_abstract_is_evaluated():
    """The idea is (1, 0.1) and finds the neighbours of the abstract, which is (0, 1)."""
    past = database(SQUARE, [2010] * 4)
    con = database(SQUARE, [2016, 2016, 2017, 2017], [10, 20, 30, 50], "C")
    idea, abstract = (np.array([x], dtype=np.float32) for x in ([1.0, 0.1], [0.0, 1.0]))
    settings = Novelty(k=2, normalise="none")
    row = novelty_scores(abstract, past, con, settings, neighbour_query=idea).iloc[0]
    assert row["past_neighbours"] == "P000 P001"
    assert row["HD"] == pytest.approx((np.sqrt(2) + 0) / 2)
    assert row["CI"] == pytest.approx(15)
    alone = novelty_scores(idea, past, con, settings).iloc[0]
    assert alone["past_neighbours"] == row["past_neighbours"]
    assert alone["HD"] != row["HD"]
    # What a distance is divided by is of the abstract too: sqrt 2, 0, sqrt 2 and 2 on average.
    divided = novelty_scores(abstract, past, con, Novelty(k=2), neighbour_query=idea).iloc[0]
    assert divided["HD"] == pytest.approx(row["HD"] / ((2 * np.sqrt(2) + 2) / 4))


def test_the_measured_text_is_the_idea_or_the_abstract_and_of_one_length(make_run):
    paper = ("S1/1", "S1/1", "A title", "one two three four five six seven eight nine ten")
    idea = " ".join(f"word{n}" for n in range(40))
    rows = {"papers": [(*paper, 50.0, None, "", True, idea)]}

    def texts(**settings):
        return measured_texts(make_run(rows).table("papers"), Novelty(**settings)).loc["S1/1"]

    assert list(texts()) == [idea, idea]
    whole = texts(evaluated="abstract")
    assert (whole["query"], whole["evaluated"]) == (idea, f"{paper[2]}. {paper[3]}")
    short = texts(evaluated="abstract", words=10)
    assert [len(text.split()) for text in short] == [10, 10]
    assert idea.startswith(short["query"])
    told = make_run(rows)
    told.scenario["novelty"] = {"evaluated": "abstract"}
    assert (evaluated_words(make_run(rows)), evaluated_words(told)) == (40, 12)


def test_a_run_that_measures_the_abstract_embeds_it(run, make_run):
    embedding = LSAEmbedding.fit(["graphs of people", "cells and graphs", "cells of people"], dim=2)
    seen, encode = [], embedding.encode
    embedding.encode = lambda texts: seen.append(list(texts)) or encode(texts)
    able = dataclasses.replace(run.databases, embedding=embedding)
    held = make_run(databases=able, vectors=run.vectors)
    table = run_novelty(held, Novelty(evaluated="abstract"))
    assert len(seen) == 2
    assert table["paper"].tolist() == ["S1/1"]
    held.databases = run.databases
    with pytest.raises(InputError, match="embedding of the run"):
        run_novelty(held, Novelty(words=20))
