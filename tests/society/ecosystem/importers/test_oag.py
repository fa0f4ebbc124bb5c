"""Open Academic Graph: 3.x and both sides of 2.x, told apart by what stands in a file."""

import pytest

from tests.society.ecosystem.importers.foreign_files import FILES, OAG2, OAG3, balanced, lines, put
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers.json_papers import OpenAcademicGraph
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord


def test_a_publication_of_3_is_read_whole(tmp_path):
    source = OpenAcademicGraph(put(tmp_path, FILES["oag3"]))
    records = list(source)
    assert records[0] == RawRecord(
        id="53e99784b7602d9701f3e131",
        title="Maps of science",
        abstract="We draw maps.",
        year=2001,
        authors=(
            RawAuthor("54488", "Ada Lovelace", "Here"),
            RawAuthor("name:ben bell", "Ben BELL"),
        ),
        keywords=("maps",),
        venue="Vis",
        citations=None,
    )
    assert [(record.id, record.year, record.citations) for record in records[1:]] == [
        ("b2", 2003, None),
        ("b3", 2005, 4),
    ]
    assert source.report.passed == {"no id": 1, "no year": 1, "doc_type patent": 1}
    assert balanced(source.report)


def test_a_paper_of_the_mag_side_is_read_whole(tmp_path):
    maps, trees, graphs = OpenAcademicGraph(put(tmp_path, FILES["oag2"]))
    assert maps == RawRecord(
        id="2507145174",
        title="Maps of science",
        abstract="We draw maps maps",
        year=2001,
        authors=(RawAuthor("2277886111", "Ada Lovelace", "Here."),),
        references=("1976962550", "1982791788"),
        keywords=("cartography", "science"),
        venue="Vis",
        citations=13,
    )
    assert trees.references == (maps.id,)
    assert (graphs.keywords, graphs.venue) == (("graphs",), "Vis")


def test_files_of_authors_and_venues_are_told_by_their_fields_and_counted(tmp_path):
    authors = [{"id": "5", "name": "Ada", "org": "Here"}, {"id": "6", "name": "Ben", "org": ""}]
    venues = [{"id": 1, "JournalId": 1, "DisplayName": "Vis", "NormalizedName": "vis"}]
    files = {"a.json": lines(authors), "v.txt": lines(venues), "p.json": lines(OAG3)}
    source = OpenAcademicGraph(put(tmp_path, files))
    assert len(list(source)) == 3
    assert source.report.unused == ["a.json: no publications", "v.txt: no publications"]


def test_both_sides_of_2_at_once_are_refused(tmp_path):
    files = {"mag_papers_0.txt": lines(OAG2), "aminer_papers_0.txt": lines(OAG3)}
    with pytest.raises(InputError, match="the same papers under different ids"):
        list(OpenAcademicGraph(put(tmp_path, files)))
    assert len(list(OpenAcademicGraph(tmp_path / "aminer_papers_0.txt"))) == 3


def test_by_name_ids_are_not_used_and_dropping_leaves_the_nameless_out(tmp_path):
    put(tmp_path, FILES["oag3"])
    source = OpenAcademicGraph(tmp_path, authors="name")
    assert [a.id for a in next(iter(source)).authors] == ["name:ada lovelace", "name:ben bell"]
    source = OpenAcademicGraph(tmp_path, nameless="drop")
    records = list(source)
    assert [author.id for author in records[0].authors] == ["54488"]
    assert source.report.left_out == 1
    assert "left out" in source.authors_are
