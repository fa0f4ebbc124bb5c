"""The DBLP citation network: v10 by names, v12 as one list of lines."""

from tests.society.ecosystem.importers.foreign_files import FILES, balanced, put
from virsci_society.society.ecosystem.importers.json_papers import Dblp
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord


def test_authors_of_version_10_are_names(tmp_path):
    source = Dblp(put(tmp_path, FILES["dblp10"]))
    maps, _ = source
    assert maps == RawRecord(
        id="00127ee2-cb05-48ce-bc49-9de556b93346",
        title="Maps of science",
        abstract="We draw maps.",
        year=2001,
        authors=(
            RawAuthor("name:ada lovelace", "Ada Lovelace"),
            RawAuthor("name:ben bell", "Ben Bell"),
        ),
        references=("51c7e02e-f5ed-431a-8cf5-f761f266d4be",),
        venue="vis",
        citations=0,
    )
    assert source.report.named == 4
    assert balanced(source.report)


def test_version_12_is_one_list_with_an_object_a_line(tmp_path):
    source = Dblp(put(tmp_path, FILES["dblp12"]))
    maps, trees, graphs = source
    assert maps == RawRecord(
        id="1091",
        title="Maps of science",
        abstract="We draw maps maps",
        year=2001,
        authors=(RawAuthor("2312688602", "Ada Lovelace", "Here"),),
        references=("2005687710", "2018037215"),
        keywords=("Cartography",),
        venue="Vis",
        citations=2,
    )
    assert (trees.id, graphs.references) == ("1388", ("1091",))
    assert source.report.read == 3


def test_a_broken_object_in_the_list_is_one_malformed_record(tmp_path):
    text = FILES["dblp12"]["dblp.v12.json"].replace('"id": 1388', '"id" 1388')
    source = Dblp(put(tmp_path, {"dblp.v12.json": text}), malformed_share=0.5)
    assert [record.id for record in source] == ["1091", "1674"]
    assert source.report.shown[0].startswith("dblp.v12.json:line 3: ")
