"""``society compare``: a small run beside the papers after the boundary of its own ecosystem."""

import json
import re
import shutil

import pandas as pd
import pytest

from tests.command_line import society
from tests.edited_folders import edit_manifest
from virsci_society import load_scenario, run_scenario
from virsci_society.metrics.validation.comparison import ROWS
from virsci_society.metrics.validation.dated_papers import real_papers, simulated_papers
from virsci_society.scenarios.analysis.compare_with_corpus import (
    ComparedRuns,
    compare_with_ecosystem,
    limitations,
    whole_years,
)
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.literature.papers import Paper
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import TABLES


@pytest.fixture(autouse=True)
def _fewer_resamples(monkeypatch):
    """A fifth of the resamples: no test here looks at more than the size of an error."""
    monkeypatch.setattr("virsci_society.metrics.validation.comparison.RESAMPLES", 20)
    monkeypatch.setattr("virsci_society.metrics.validation.comparison.FEW_RESAMPLES", 5)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """An ecosystem whose papers after the boundary have authors, and a run that began in it."""
    place = tmp_path_factory.mktemp("compare")
    made = Synthetic(scientists=40, papers=240).generate(3)
    names = made.profiles.names
    late = [
        Paper(**{**vars_of(paper), "authors": (names[n % 9], names[10 + n % 7], f"Author{n % 5}")})
        for n, paper in enumerate(made.contemporary)
    ]
    told = Ecosystem(**{**vars(made), "contemporary": late})
    told.save(place / "eco")
    settings = {"population.ecosystem.use": "folder", "until": "240d"}
    settings["population.ecosystem.path"] = str(place / "eco")
    return place / "eco", run_scenario(
        load_scenario("quickstart", **settings), place / "run", page=False
    )


def vars_of(paper):
    return {name: getattr(paper, name) for name in paper.__dataclass_fields__}


@pytest.mark.slow
def test_the_table_is_printed_and_written_and_the_run_stays_as_it_is(folders, tmp_path):
    eco, run = folders
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    done = society("compare", run, "--with", eco, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert re.match(r"\S+: \d+ of 1\d measures of its own scientists are within", done.stdout)
    assert "Use column own" in done.stdout
    table = pd.read_csv(tmp_path / "observed.csv")
    assert table["measure"].unique().tolist() == list(ROWS)
    assert set(table["side"]) == {"all", "own"}
    assert set(table["window"]) == {1}
    assert pd.read_csv(tmp_path / "observed_scores.csv")["judged"].max() <= 14
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_people_are_predicted_by_the_run_and_without_a_society(folders, tmp_path):
    eco, run = folders
    told = society("compare", run, "--with", eco, "--people", "--out", tmp_path)
    assert "AUC: area under the ROC curve" in " ".join(told.stdout.split())
    found = pd.read_csv(tmp_path / "people.csv")
    assert set(found["predictor"]) >= {"society", "past papers", "Katz"}
    refused = society("compare", run, "--with", eco, "--people", "--ideas")
    assert refused.exit_code == 2


@pytest.mark.slow
def test_windows_are_cut_at_the_length_of_the_run(folders):
    eco, folder = folders
    run, made = Run.open(folder), Ecosystem.load(eco)
    found = compare_with_ecosystem(ComparedRuns("one", (run,)), made)
    rows = found.tables.rows.set_index(["side", "measure"])
    authors = made.contemporary.table["authors"].to_pylist()
    first = [one for one, day in zip(authors, made.contemporary.dates, strict=True) if day < 365]
    assert whole_years(run) == 1
    assert run.days < 365
    assert rows.loc[("all", "papers"), "observed"] == len(first) > 0
    names = set(made.profiles.names)
    inside = [[one for one in named if one in names] for named in first]
    sizes = [len(one) for one in inside if one]
    assert rows.loc[("own", "authors_per_paper"), "observed"] == pytest.approx(
        sum(sizes) / len(sizes)
    )
    assert rows.loc[("all", "papers"), "before"] == (made.past.dates >= -365).sum()
    assert any("ends on day 240" in told for told in found.notes)
    assert any("One run has no variance" in told for told in found.notes)


@pytest.mark.slow
def test_the_real_papers_of_its_scientists_are_at_no_distance_from_own(folders):
    """The oracle, in the form of a run: its tables hold the real later papers."""
    eco, folder = folders
    run, made = Run.open(folder), Ecosystem.load(eco)
    tables = {name: run.table(name) for name in TABLES}
    late, names = made.contemporary, set(made.profiles.names)
    rows, papers = [], []
    for paper in late:
        inside = [(name, place) for place, name in enumerate(paper.authors) if name in names]
        if inside:
            outside = len(paper.authors) - len(inside) or None
            papers.append((paper.id, paper.date, "; ".join(paper.keywords), outside))
            rows += [(paper.id, *author) for author in inside]
    columns = {"paper": "string", "published": "Float64", "keywords": "string"}
    columns["external_authors"] = "Int64"
    tables["papers"] = pd.DataFrame(papers, columns=list(columns)).astype(columns)
    columns = {"paper": "string", "scientist": "string", "position": "Int64"}
    tables["authorships"] = pd.DataFrame(rows, columns=list(columns)).astype(columns)
    oracle = Run(tables, {**run.manifest, "days": 365.0}, run.scenario)
    found = compare_with_ecosystem(ComparedRuns("oracle", (oracle,)), made)
    own = found.tables.rows[found.tables.rows["side"] == "own"]
    assert (own["distance"].dropna() == 0).all()
    assert len(own["distance"].dropna()) > 20
    # Of the others their number is known, which is all that the size of own teams needs.
    of_all = found.tables.rows[found.tables.rows["side"] == "all"].set_index("measure")
    assert of_all.loc["authors_per_own_paper", "distance"] == 0
    real = [one for one in real_papers(late) if names & {*one.authors}]
    sizes = [len(one.authors) + one.outside for one in simulated_papers(oracle)]
    assert sizes == [len(one.authors) for one in real]
    assert any(not names >= {*one.authors} for one in real)
    assert "authors_per_own_paper" in found.reach


@pytest.mark.slow
def test_a_large_society_is_compared_with_all_its_people_also_those_not_listed(folders):
    eco, folder = folders
    run, made = Run.open(folder), Ecosystem.load(eco)
    tables = {name: run.table(name) for name in TABLES}
    tables["scientists"] = tables["scientists"].head(3)
    few = Run(tables, run.manifest, run.scenario)
    whole, listed = (
        compare_with_ecosystem(ComparedRuns("one", (one,)), made).tables for one in (run, few)
    )
    assert listed.rows.equals(whole.rows)


@pytest.mark.slow
def test_several_runs_have_a_mean_and_a_spread(folders, tmp_path):
    eco, run = folders
    others = [tmp_path / "other", tmp_path / "again"]
    settings = {"population.ecosystem.use": "folder", "until": "240d", "seed": 2}
    settings["population.ecosystem.path"] = str(eco)
    run_scenario(load_scenario("quickstart", **settings), others[0], page=False)
    shutil.copytree(run, others[1])
    done = society("compare", run, *others, "--with", eco, "--json", "--out", tmp_path / "tables")
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["comparisons"]
    assert {one["runs"] for one in found["scores"]} == {3}
    sizes = next(one for one in found["rows"] if one["measure"] == "papers")
    counts = [len(Run.open(one).table("papers")) for one in (run, *others)]
    assert sizes["simulated"] == pytest.approx(sum(counts) / 3)
    assert any("same digest" in told for told in found["notes"])
    written = pd.read_csv(tmp_path / "tables" / "observed.csv")
    assert len(written) == len(found["rows"])


@pytest.mark.slow
def test_people_who_come_from_outside_open_the_column_all(folders):
    eco, folder = folders
    run, made = Run.open(folder), Ecosystem.load(eco)
    tables = {name: run.table(name) for name in TABLES}
    rows = tables["authorships"].copy()
    rows.loc[rows.index[-1], "scientist"] = "Scientist999"
    tables["authorships"] = rows
    found = compare_with_ecosystem(
        ComparedRuns("open", (Run(tables, run.manifest, run.scenario),)), made
    )
    assert found.reach.startswith("Use columns own and all: the society includes newcomers")


def test_what_cannot_be_compared_is_refused(folders, tmp_path):
    eco, run = folders
    other = Synthetic(scientists=30, papers=200).generate(1)
    other.save(tmp_path / "other")
    longer = tmp_path / "longer"
    shutil.copytree(run, longer)
    edit_manifest(longer, days=900.0)
    for arguments, words in (
        ((run, "--with", tmp_path / "other"), "another ecosystem"),
        ((run, "--with", tmp_path / "none"), "none"),
        ((tmp_path / "none", "--with", eco), "no such folder"),
        ((eco, "--with", eco), "tables/"),
        ((run, run, "--with", eco), "given twice"),
        ((run, longer, "--with", eco), "different length"),
    ):
        done = society("compare", *arguments)
        assert done.exit_code == 2, arguments
        assert words in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_study_is_compared_arm_by_arm(nursery, folders, tmp_path):
    eco, _ = folders
    study = tmp_path / "study.yaml"
    study.write_text(
        f"""study: sizes
base: quickstart
set:
  population.ecosystem.use: folder
  population.ecosystem.path: {eco}
  until: 10d
  metrics: [cost]
arms:
  two: {{protocol.team_size: 2}}
  three: {{protocol.team_size: 3}}
replicates: 2
measures: [papers]
""",
        encoding="utf-8",
    )
    folder = tmp_path / "runs"
    done = nursery.society("study", "run", study, "--out", folder)
    assert done.returncode == 0, done.stderr
    done = society("compare", folder, "--with", eco, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["comparisons"]
    assert [one["name"] for one in found] == ["runs, two", "runs, three"]
    assert {score["runs"] for one in found for score in one["scores"]} == {2}


def test_many_papers_left_out_by_filters_are_told(folders):
    eco, folder = folders
    run, made = Run.open(folder), Ecosystem.load(eco)
    steps = [
        {"filter": "past: abstract required", "in": 200, "removed": 150},
        {"filter": "past: at least 0 citations", "in": 50, "removed": 10},
        {"filter": "contemporary: abstract required", "in": 100, "removed": 2},
    ]
    manifest = {**made.manifest, "steps": steps}
    filtered = Ecosystem(**{**vars_of(made), "manifest": manifest})
    told = [one for one in limitations(ComparedRuns("one", (run,)), filtered) if "excluded" in one]
    assert sum("80% of the past papers" in one for one in told) == 1
    assert not any("after the boundary; newcomers" in one for one in told)
