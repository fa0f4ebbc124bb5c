"""``society compare``: a small run beside the papers after the boundary of its own ecosystem."""

import shutil

import pandas as pd
import pytest
from typer.testing import CliRunner

from metrics.validation.comparison import QUANTITIES
from scenarios import load_scenario, run_scenario
from scenarios.analysis.observed import compared_days, compared_sides, limitations
from scenarios.cli.app import app
from society.ecosystem.ecosystem import Ecosystem
from society.ecosystem.synthetic.synthetic import Synthetic
from society.literature.papers import Paper
from society.results.run import Run
from society.results.tables import TABLES
from tests.metrics.html_page import Page, assert_inert


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """An ecosystem whose papers after the boundary have authors, and a run that began in it."""
    place = tmp_path_factory.mktemp("compare")
    made = Synthetic(scientists=40, papers=300).generate(3)
    names = made.profiles.names
    late = [
        Paper(**{**vars_of(paper), "authors": (names[n % 9], names[10 + n % 7], f"Author{n % 5}")})
        for n, paper in enumerate(made.contemporary)
    ]
    told = Ecosystem(**{**vars(made), "contemporary": late})
    told.save(place / "eco")
    settings = {"population.ecosystem.use": "folder", "until": "300d"}
    settings["population.ecosystem.path"] = str(place / "eco")
    return place / "eco", run_scenario(load_scenario("quickstart", **settings), place / "run")


def vars_of(paper):
    return {name: getattr(paper, name) for name in paper.__dataclass_fields__}


def society(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_table_is_printed_kept_and_shown(folders, tmp_path):
    eco, run = folders
    mine = tmp_path / "run"
    shutil.copytree(run, mine)
    digest = (mine / "digest").read_bytes()
    done = society("compare", mine, "--with", eco)
    assert done.exit_code == 0, done.output
    assert "newcomers" in done.stdout
    opened = Run.open(mine)
    table = opened.measure("observed")
    assert table["quantity"].tolist() == list(QUANTITIES)
    assert (mine / "digest").read_bytes() == digest
    html = (mine / "report.html").read_text(encoding="utf-8")
    assert_inert(html)
    told = Page(html).text()
    assert "Beside what was observed" in told
    for sentence in opened.measure("observed_unknowns")["unknown"]:
        assert " ".join(sentence.split()) in told
    before = (mine / "report.html").read_bytes()
    assert society("compare", mine, "--with", eco).exit_code == 0
    assert (mine / "report.html").read_bytes() == before


def test_sides_are_cut_at_the_length_of_the_run(folders):
    eco, folder = folders
    run, made = Run.open(folder), Ecosystem.load(eco)
    sides = compared_sides(run, made)
    dates = made.contemporary.dates
    observed = sides["observed"].authorships.rows
    assert run.days < compared_days(run) == 365
    assert observed["paper"].nunique() == (dates < 365).sum() > 0
    inside = sides["observed_inside"].authorships
    assert inside.prior_authors >= set(inside.rows["scientist"])
    assert set(inside.rows["scientist"]) <= set(made.profiles.names)
    before = sides["before"].authorships.rows
    assert before["paper"].nunique() == (made.past.dates >= -365).sum()
    assert before["date"].between(0, 365, inclusive="left").all()
    names = made.profiles.names
    assert any("ends on day 300" in told for told in limitations(run, made))
    assert sides["observed_inside"].people == len(names) == sides["simulated"].people
    full = made.contemporary.table
    authors = dict(zip(full["id"].to_pylist(), full["authors"].to_pylist(), strict=True))
    sizes = [len(authors[paper]) for paper in sorted(set(inside.rows["paper"]))]
    assert sides["observed_inside"].sizes.tolist() == sizes
    known = pd.MultiIndex.from_tuples(sorted(inside.prior_pairs))
    assert len(known) > 0
    assert set(known.get_level_values(0)) <= set(names)


def test_a_large_society_is_compared_with_all_its_people_also_those_not_listed(folders):
    eco, folder = folders
    run, made = Run.open(folder), Ecosystem.load(eco)
    tables = {name: run.table(name) for name in TABLES}
    tables["scientists"] = tables["scientists"].head(3)
    few = Run(tables, run.manifest, run.scenario)
    whole, listed = (
        compared_sides(run, made)["observed_inside"],
        compared_sides(few, made)["observed_inside"],
    )
    assert listed.people == whole.people == len(made.profiles)
    assert set(listed.authorships.rows["scientist"]) == set(whole.authorships.rows["scientist"])


def test_another_ecosystem_is_refused(folders, tmp_path):
    other = Synthetic(scientists=30, papers=200).generate(1)
    other.save(tmp_path / "other")
    done = society("compare", folders[1], "--with", tmp_path / "other")
    assert done.exit_code == 2
    assert "another ecosystem" in done.stderr
    assert society("compare", folders[1], "--with", tmp_path / "none").exit_code == 2
