"""``society measure``: finished runs against other papers, without a call."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tests.older_folders import unlist
from virsci_society.agents.errors import InputError
from virsci_society.metrics.novelty.novelty import Database, novelty_scores
from virsci_society.scenarios.analysis.rescoring import (
    Baseline,
    compare_before_after,
    measure_again,
)
from virsci_society.scenarios.cli.app import app
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.results.run import Run


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """The ecosystem of the small run, another of the same years, and an earlier one."""
    folder = tmp_path_factory.mktemp("worlds")
    Synthetic(scientists=12, papers=90, fields=2, seed=1).generate(3).save(folder / "same")
    Synthetic(scientists=20, papers=120, fields=2, seed=2).generate(8).save(folder / "other")
    return folder


@pytest.fixture
def held(small_run, here):
    """A copy of a finished run."""
    return shutil.copytree(small_run, here / "held")


def content(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "rescored" not in path.parts
    }


PARTS = ("HD", "CD", "CI", "ON")


def test_against_the_same_papers_everything_is_as_it_was(held, worlds):
    before = content(held)
    table = measure_again(held, Baseline(worlds / "same"))
    for name in PARTS:
        np.testing.assert_array_equal(table[name], table[f"{name}_before"])
    assert content(held) == before
    written = pd.read_parquet(held / "rescored" / "same.parquet")
    assert written["paper"].tolist() == table["paper"].tolist()


def test_against_others_it_is_the_novelty_measure_with_those_papers(held, worlds):
    table = measure_again(held, Baseline(worlds / "other"))
    run = Run.open(held)
    home, other = Ecosystem.load(worlds / "same"), Ecosystem.load(worlds / "other")
    texts = [f"{paper.title}. {paper.abstract}" for paper in other.contemporary]
    past = home.past
    expected = novelty_scores(
        run.vectors.values,
        Database(home.past_vectors, past.years, past.citations, [one.id for one in past]),
        Database(
            _encoded(home, other.contemporary, texts),
            other.contemporary.years,
            other.contemporary.citations,
            [one.id for one in other.contemporary],
        ),
        ids=run.vectors.ids,
    )
    for name in PARTS:
        np.testing.assert_allclose(
            table[name].astype(float), expected[name].astype(float), rtol=1e-6
        )
    assert (table["HD"] == table["HD_before"]).all()
    assert (table["CD"] != table["CD_before"]).any()


def _encoded(home, papers, texts):
    from virsci_society.society.ecosystem.building.profiles import paper_texts

    assert len(texts) == len(papers)
    return home.embedding.encode(paper_texts(papers))


def test_another_embedding_is_fitted_on_the_past_and_told(held, worlds):
    by = Baseline(worlds / "same", embedding="lsa:8")
    table = measure_again(held, by)
    assert (table["HD"] != table["HD_before"]).all()
    note = json.loads((held / "rescored" / f"{by.name}.json").read_text())
    assert note["run"] == (held / "digest").read_text().strip()
    assert note["embedding"]["name"].startswith("lsa")
    assert note["contemporary"]["papers"] == len(Ecosystem.load(worlds / "same").contemporary)


def test_a_past_of_its_own_takes_its_embedding(held, worlds):
    same = measure_again(held, Baseline(worlds / "same", past=worlds / "same"))
    for name in PARTS:
        np.testing.assert_allclose(
            same[name].astype(float), same[f"{name}_before"].astype(float), rtol=1e-5
        )


def test_runs_are_the_cases_where_there_are_several(held, worlds):
    one = measure_again(held, Baseline(worlds / "other"))
    unit, rows = compare_before_after([one])
    assert (unit, rows[0][1]) == ("abstracts", len(one))
    unit, rows = compare_before_after([one, one, one])
    assert (unit, rows[0][1]) == ("runs", 3)
    name, _, before, now, gap, _ = rows[1]
    assert name == "CD"
    assert gap.value == pytest.approx(now.value - before.value)


def test_the_name_of_a_measure_is_no_run(held):
    told = CliRunner().invoke(app, ["measure", str(held), "degree"])
    assert told.exit_code == 2
    assert "did you mean 'degrees'?" in told.output
    assert "vs.measure(vs.Run.open(RUN), NAME)" in told.output
    missing = CliRunner().invoke(app, ["measure", str(held)])
    assert missing.exit_code == 2
    assert "--contemporary ECOSYSTEM is missing" in missing.output


def test_the_command_prints_before_and_now(held, worlds):
    done = CliRunner().invoke(app, ["measure", str(held), "--contemporary", str(worlds / "other")])
    assert done.exit_code == 0, done.output
    assert "measured again: other" in done.output
    assert "too narrow" in done.output


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"embedding": "litellm:openai/x"}, "would have to be asked for"),
        ({"embedding": "nonsense"}, "is not known"),
        ({"contemporary": "nowhere"}, "nowhere"),
    ],
)
def test_what_cannot_be_measured_with_is_refused(held, worlds, change, said):
    by = {"contemporary": worlds / "same", **change}
    by["contemporary"] = worlds / by["contemporary"]
    with pytest.raises(InputError, match=said):
        measure_again(held, Baseline(**by))


def test_papers_that_the_society_knew_are_no_contemporaries(held, worlds):
    unlist(held)
    manifest = held / "manifest.json"
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**told, "boundary": told["boundary"] + 1}))
    with pytest.raises(InputError, match="the society knew some of them"):
        measure_again(held, Baseline(worlds / "same"))


@pytest.fixture(scope="module")
def by_idea(tmp_path_factory):
    """A run whose papers are found by their ideas, as in VirSci's Table 1."""
    from virsci_society.scenarios.config.schema import load_scenario
    from virsci_society.scenarios.runs.execute import run_scenario

    told = {"until": "100d", "protocol.found_by": "idea", "protocol.turns": 1}
    told |= {"population.ecosystem.scientists": 12, "population.ecosystem.papers": 90}
    scenario = load_scenario("virsci/paper", settings=[f"{k}={v}" for k, v in told.items()])
    folder = run_scenario(scenario, tmp_path_factory.mktemp("ideas") / "run", page=False)
    Synthetic(scientists=12, papers=90).generate(1).save(folder.parent / "same")
    return folder


@pytest.mark.slow
def test_papers_that_are_found_by_their_ideas_are_embedded_by_them_again(by_idea):
    home = Ecosystem.load(by_idea.parent / "same")
    papers = Run.open(by_idea).table("papers")
    assert papers["found_by"].notna().all()
    assert (papers["found_by"] != papers["title"] + ". " + papers["abstract"]).all()
    same = measure_again(by_idea, Baseline(by_idea.parent / "same"))
    named = measure_again(by_idea, Baseline(by_idea.parent / "same", None, home.embedding.name))
    encoded = home.embedding.encode(papers["found_by"].tolist())
    np.testing.assert_allclose(encoded, Run.open(by_idea).vectors.values, atol=1e-6)
    for name in PARTS:
        np.testing.assert_array_equal(same[name], same[f"{name}_before"])
        np.testing.assert_allclose(
            named[name].astype(float), named[f"{name}_before"].astype(float), rtol=1e-5
        )


@pytest.mark.slow
def test_a_run_that_did_not_keep_its_ideas_is_refused(by_idea, here):
    held = shutil.copytree(by_idea, here / "older")
    unlist(held)
    path = held / "tables" / "papers.parquet"
    pd.read_parquet(path).drop(columns="found_by").to_parquet(path)
    other = Baseline(by_idea.parent / "same", None, "lsa:16")
    with pytest.raises(InputError, match="society replay RUN"):
        measure_again(held, other)
