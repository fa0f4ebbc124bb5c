"""``society compare --ideas``: a run whose ideas are looked for among the papers that came."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from tests.command_line import society
from tests.edited_folders import edit_manifest
from virsci_society import load_scenario, run_scenario
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.analysis.backtest import backtest_runs
from virsci_society.scenarios.analysis.compare_with_corpus import ComparedRuns
from virsci_society.society.ecosystem.build import paper_texts
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.literature.embedding.registry import make_embedding
from virsci_society.society.literature.papers import Paper, Papers
from virsci_society.society.results.run import Run, Vectors
from virsci_society.society.results.tables import TABLES

IDEAS, PAST, OTHERS = (
    "ideas of the society",
    "past papers nearest to them",
    "real later papers, without themselves",
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """An ecosystem, a run that began in it, and the ecosystem in which an idea came true."""
    place = tmp_path_factory.mktemp("backtest")
    made = Synthetic(scientists=40, papers=240).generate(3)
    made.save(place / "eco")
    settings = {"population.ecosystem.use": "folder", "until": "300d"}
    settings["population.ecosystem.path"] = str(place / "eco")
    run = run_scenario(load_scenario("quickstart", **settings), place / "run", page=False)
    table = Run.open(run).table("papers")
    late = list(made.contemporary)
    # Two later papers have the words of the first idea.
    for row in (len(late) // 2, len(late) - 1):
        words = {name: str(table[name].iloc[0]) for name in ("title", "abstract")}
        late[row] = Paper(**{**_fields(late[row]), **words, "citations": 10 + row})
    vectors = made.embedding.encode(paper_texts(Papers.of(late)))
    planted = Ecosystem(**{**vars(made), "contemporary": late, "contemporary_vectors": vectors})
    planted.save(place / "planted")
    return place / "eco", run, place / "planted"


def _fields(paper):
    return {name: getattr(paper, name) for name in paper.__dataclass_fields__}


def as_run(run, papers, vectors):
    """A run whose papers are these."""
    tables = {name: run.table(name) for name in TABLES}
    columns = {name: pd.array(papers.table[name].to_pylist()) for name in ("title", "abstract")}
    ids = papers.table["id"].to_pylist()
    tables["papers"] = pd.DataFrame({"paper": ids, **columns, "neighbour_query": None})
    written = Vectors(tuple(ids), np.asarray(vectors, dtype=np.float32))
    return Run(tables, run.manifest, run.scenario, vectors=written, digest=run.digest)


@pytest.mark.slow
def test_a_planted_copy_is_found_with_its_year_number_and_citations(world):
    eco, run, planted = world
    done = society("compare", run, "--with", planted, "--ideas", "--json")
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["backtests"]
    late = Ecosystem.load(planted).contemporary
    first, second = late[len(late) // 2], late[len(late) - 1]
    planted_paper = Run.open(run).table("papers")["paper"].iloc[0]
    (idea,) = [one for one in found["ideas"] if one["paper"] == planted_paper]
    assert (idea["came_true"], idea["papers"]) == ("yes", 2)
    assert (idea["first"], idea["first_year"]) == (first.id, first.year)
    assert idea["citations"] == (first.citations + second.citations) / 2
    assert idea["similarity"] == pytest.approx(1, abs=1e-4)
    # Without the copies it came true by nothing, or by less.
    done = society("compare", run, "--with", eco, "--ideas", "--json")
    (before,) = json.loads(done.stdout)["backtests"]
    (idea,) = [one for one in before["ideas"] if one["paper"] == planted_paper]
    assert idea["came_true"] == "no"


def test_it_is_printed_and_written_in_the_same_bytes_and_changes_no_run(
    world, tmp_path, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "200")
    eco, run, _ = world
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    printed = []
    for name in ("one", "two"):
        done = society("compare", run, "--with", eco, "--ideas", "--out", tmp_path / name)
        assert done.exit_code == 0, done.output
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    for name in ("backtest.csv", "backtest_ideas.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    listed = pd.read_csv(tmp_path / "one" / "backtest_ideas.csv")
    assert listed["paper"].tolist() == sorted(Run.open(run).table("papers")["paper"])
    for words in (
        "say nothing about people or language models",
        "Rules have no training cut-off",
        "the intervals are too narrow",
        "Threshold: cosine",
        *(IDEAS, PAST, OTHERS),
    ):
        assert words in printed[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cutoff", "words"),
    [
        ("2025-06", "Leakage: the model may have read"),
        ("1990", "was trained before"),
        (None, "possible"),
    ],
)
def test_a_model_that_may_have_read_the_later_papers_is_flagged(world, cutoff, words):
    eco, folder, _ = world
    run = Run.open(folder)
    backend = {"use": "litellm", "model": "some/model", "about": "some/model", "cutoff": cutoff}
    told = Run(
        run.tables(),
        {**run.manifest, "backend": backend},
        run.scenario,
        vectors=run.vectors,
        digest=run.digest,
    )
    notes = " ".join(backtest_runs(ComparedRuns("one", (told,)), Ecosystem.load(eco)).notes)
    assert words in notes
    assert ("Leakage" in notes) == (cutoff != "1990")
    assert "Texts by rules" not in notes


def test_several_runs_have_an_interval_over_runs(world):
    _, folder, planted = world
    one = Run.open(folder)
    made = Ecosystem.load(planted)
    past = as_run(one, made.past, made.past_vectors)
    found = backtest_runs(ComparedRuns("two", (one, past)), made)
    ideas = found.ideas["came_true"].astype(float)
    size = len(one.table("papers"))
    means = ideas[:size].mean(), ideas[size:].mean()
    row = found.summary.iloc[0]
    assert row["came_true"] == pytest.approx(np.mean(means))
    assert row["number"] == size + len(made.past)
    assert not any("too narrow" in note for note in found.notes)


def test_what_does_not_fit_is_refused_in_words(world, tmp_path):
    eco, run, _ = world
    made = Ecosystem.load(eco)
    none = {"contemporary": made.contemporary[:0]}
    none["contemporary_vectors"] = made.contemporary_vectors[:0]
    Ecosystem(**{**vars(made), **none}).save(tmp_path / "none")
    Synthetic(scientists=40, papers=240).generate(4).save(tmp_path / "papers")
    renamed = [Paper(**{**_fields(one), "id": f"other-{one.id}"}) for one in made.past]
    Ecosystem(**{**vars(made), "past": renamed}).save(tmp_path / "renamed")
    other = make_embedding("lsa:16", texts=paper_texts(made.past), seed=1)
    vectors = {
        f"{side}_vectors": other.encode(paper_texts(getattr(made, side)))
        for side in ("past", "contemporary")
    }
    Ecosystem(**{**vars(made), **vectors, "embedding": other}).save(tmp_path / "embedding")
    plain = shutil.copytree(run, tmp_path / "plain")
    told = json.loads((plain / "manifest.json").read_text("utf-8"))
    # Counts of other papers are refused before anything else is looked at.
    edit_manifest(plain, digest=None, ecosystem=told["ecosystem"] | {"counts": None})
    for folder, with_, words in (
        (run, tmp_path / "none", "started from another ecosystem"),
        (plain, tmp_path / "none", "no papers after its boundary"),
        (plain, tmp_path / "papers", "vectors were not made by the ecosystem's embedding"),
        (plain, tmp_path / "renamed", "cites past papers that are not in the ecosystem"),
        (run, tmp_path / "embedding", "with the same embedding"),
    ):
        done = society("compare", folder, "--with", with_, "--ideas")
        assert done.exit_code == 2, done.output
        assert words in " ".join(done.stderr.split()), done.stderr
        assert "Traceback" not in done.output


@pytest.mark.slow
def test_a_run_without_papers_has_no_idea_to_look_for(world):
    eco, folder, _ = world
    made = Ecosystem.load(eco)
    none = as_run(Run.open(folder), made.past[:0], made.past_vectors[:0])
    with pytest.raises(InputError, match="there are no ideas"):
        backtest_runs(ComparedRuns("none", (none,)), made)
