"""A run as a database of pySciSci: its tables, ids, years, and the same bytes every time."""

import gzip
import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from tests.command_line import society
from virsci_society.scenarios.export.pyscisci import write_pyscisci
from virsci_society.society.results.run import Run


@pytest.fixture(scope="module")
def written(small_run, tmp_path_factory):
    """A run and the database made of it, by the command."""
    folder = tmp_path_factory.mktemp("pyscisci") / "run"
    shutil.copytree(small_run, folder)
    done = society("export", "pyscisci", str(folder))
    assert done.exit_code == 0, done.output
    return Run.open(folder), folder / "pyscisci"


def read(place, name):
    """A table as pySciSci reads it."""
    file = place / name / f"{name}0.csv.gz"
    return pd.read_csv(file, compression="gzip", lineterminator="\n")


def ids(place, kind):
    """The ids of the run by their numbers."""
    listed = pd.read_csv(place / "ids.csv.gz")
    return listed[listed["kind"] == kind].set_index("number")["id"].to_dict()


def test_papers_have_their_years_titles_and_team_sizes(written):
    run, place = written
    papers = run.table("papers").set_index("paper")
    publication, names = read(place, "publication"), ids(place, "paper")
    assert sorted(names[one] for one in publication["PublicationId"]) == sorted(papers.index)
    authors = run.table("authorships")["paper"].value_counts()
    for row in publication.itertuples():
        paper = names[row.PublicationId]
        assert row.Title == papers["title"][paper]
        assert row.Year == run.boundary + int(papers["published"][paper] // 365)
        assert row.Date.startswith(f"{row.Year}-")
        assert row.TeamSize == authors[paper]
    years = json.loads(gzip.decompress((place / "pub2year.json.gz").read_bytes()))
    assert {int(key): year for key, year in years.items()} == dict(
        zip(publication["PublicationId"], publication["Year"], strict=True)
    )


def test_authors_stand_in_their_order_with_their_institutions(written):
    run, place = written
    papers, people = ids(place, "paper"), ids(place, "scientist")
    held = read(place, "publicationauthoraffiliation")
    told = {
        (papers[row.PublicationId], people[row.AuthorId], row.AuthorSequence - 1)
        for row in held.itertuples()
    }
    known = run.table("authorships")
    assert told == set(known[["paper", "scientist", "position"]].itertuples(index=False, name=None))
    names = read(place, "affiliation").set_index("AffiliationId")["FullName"]
    at = run.table("scientists").set_index("scientist")["institution"]
    for row in held.dropna().itertuples():
        assert names[int(row.AffiliationId)] == at[people[row.AuthorId]]


def test_references_and_keywords_are_those_of_the_run(written):
    run, place = written
    papers = ids(place, "paper")
    refs = read(place, "pub2ref")
    pairs = zip(refs["CitingPublicationId"], refs["CitedPublicationId"], strict=True)
    cited = run.table("citations")
    expected = sorted(zip(cited["citing"], cited["cited"], strict=True))
    assert sorted((papers[one], papers[other]) for one, other in pairs) == expected
    fields = read(place, "fieldinfo").set_index("FieldId")["FieldName"]
    of = read(place, "pub2field")
    told = {(papers[p], fields[f]) for p, f in zip(of["PublicationId"], of["FieldId"], strict=True)}
    table = run.table("papers")
    assert told == {
        (paper, word)
        for paper, words in zip(table["paper"], table["keywords"], strict=True)
        for word in words.split("; ")
    }


def test_the_bytes_are_the_same_every_time(written, tmp_path):
    run, place = written
    write_pyscisci(tmp_path / "again", run)
    files = sorted(one.relative_to(place) for one in place.rglob("*.gz"))
    assert len(files) == 9
    for file in files:
        assert (tmp_path / "again" / file).read_bytes() == (place / file).read_bytes()


def test_a_run_without_papers_has_empty_tables(tmp_path):
    run = Run.from_rows({}, {"seed": 0, "days": 1.0}, {})
    assert set(write_pyscisci(tmp_path / "none", run).values()) == {0}
    assert read(tmp_path / "none", "publication").empty


class CustomDB:
    """What pySciSci 0.92 reads for the block of the page, where it is not installed."""

    def __init__(self, path2database):
        self.pub = read(Path(path2database), "publication")
        self.paa = read(Path(path2database), "publicationauthoraffiliation")


def test_the_lines_of_the_page_give_a_row_for_each_authorship(written, monkeypatch):
    run, place = written
    if find_spec("pyscisci") is None:
        for name in ("pyscisci", "pyscisci.datasource", "pyscisci.datasource.CustomDB"):
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        sys.modules["pyscisci.datasource.CustomDB"].CustomDB = CustomDB
    page = (Path(__file__).parents[3] / "docs/explorer.md").read_text(encoding="utf-8")
    block = page.partition("### Tables for pySciSci")[2].partition("```python\n")[2]
    *lines, last = block.partition("```")[0].splitlines()
    code = "\n".join(lines).replace("runs/seven/pyscisci", str(place))
    names = {}
    exec(code, names)
    found = eval(last, names)
    authors = found.groupby("PublicationId").size()
    assert len(authors) == len(run.table("papers"))
    assert authors.tolist() == found.groupby("PublicationId")["TeamSize"].first().tolist()
