"""AMiner: blocks by prefix, ids by paper and place, and nothing that is over all years."""

import pytest

from tests.society.ecosystem.importers.foreign_files import (
    AMINER_PAPER,
    AMINER_RELATIONS,
    FILES,
    put,
)
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers.aminer import AMiner, AuthorIds
from virsci_society.society.ecosystem.importers.records import RawAuthor


def test_an_author_without_a_relation_is_known_by_name_and_places_need_to_be_complete(tmp_path):
    source = AMiner(put(tmp_path, FILES["aminer"]))
    graphs = list(source)[2]
    assert graphs.authors == (
        RawAuthor("503", "Cai Li"),
        RawAuthor("501", "Ada Lovelace"),
        RawAuthor("name:ben bell", "Ben Bell"),
    )
    assert source.report.named == 1
    assert "1 authorships are identified by name only" in " ".join(source.unknown)


def test_without_the_relations_all_are_known_by_name(tmp_path):
    put(tmp_path, {"AMiner-Paper.txt": AMINER_PAPER})
    named = [author.id for record in AMiner(tmp_path) for author in record.authors]
    assert set(named) == {"name:ada lovelace", "name:ben bell", "name:cai li"}


def test_places_may_count_from_zero(tmp_path):
    files = FILES["aminer"] | {"AMiner-Author2Paper.txt": "1 501 11 0\n2 502 11 1\n"}
    maps = next(iter(AMiner(put(tmp_path, files))))
    assert [author.id for author in maps.authors] == ["501", "502"]


def test_side_files_are_named_and_not_read(tmp_path):
    source = AMiner(put(tmp_path, FILES["aminer"] | {"AMiner-Coauthor.txt": "anything"}))
    list(source)
    assert source.report.unused == [
        "AMiner-Author.txt: over all years",
        "AMiner-Coauthor.txt: over all years",
    ]
    assert source.report.shown == []


def test_relations_that_are_broken_are_an_error_and_not_a_fall_back_to_names(tmp_path):
    files = FILES["aminer"] | {"AMiner-Author2Paper.txt": "1\t501\t11\nx\n" + AMINER_RELATIONS}
    with pytest.raises(InputError, match=r"(?s)2 malformed relations beside 5.*line 1: not four"):
        list(AMiner(put(tmp_path, files)))
    assert len(list(AMiner(tmp_path, malformed_share=0.5))) == 3


BLOCKS = {
    "what is this\n#t 2000\n": "does not begin with #index",
    "#index 1\n#* T\n#t 2000\n#* again\n": "a second #*",
    "#index 1\n#* T\nwhat is this\n#t 2000\n": "line 3: begins with none",
    "#index \n#* T\n#t 2000\n": "id is missing",
    "#index 1\n#* T\n#t soon\n": "year is 'soon'",
}


@pytest.mark.parametrize(("block", "told"), BLOCKS.items())
def test_a_block_that_is_wrong_is_one_malformed_record(block, told, tmp_path):
    put(tmp_path, {"AMiner-Paper.txt": block + AMINER_PAPER})
    source = AMiner(tmp_path, malformed_share=0.5)
    assert len(list(source)) == 3
    assert source.report.malformed == 1
    assert told in source.report.shown[0]


OUT_OF_STEP = {
    "a block of the other layout": "#* No index\n#t 2000\n\n" + AMINER_PAPER,
    "and behind the others": AMINER_PAPER + "\n#* Late\n#t 2000\n#index 14\n",
    "cut in the middle of a block": "#@ A\n#t 2000\n#index 1\n#! x\n#* Next\n#t 2001\n#index 2\n",
    "the last without #index": "#*A\n#t2000\n#index1\n\n#*B\n#t2001\n",
    "two layouts": "#* A\n#t 2000\n#index 1\n#* B\n#index 2\n\n#index 3\n#* C\n",
}


@pytest.mark.parametrize("text", OUT_OF_STEP.values(), ids=OUT_OF_STEP)
def test_a_file_out_of_step_is_an_error_whatever_share_is_allowed(text, tmp_path):
    source = AMiner(put(tmp_path, {"AMiner-Paper.txt": text}), malformed_share=1.0)
    with pytest.raises(InputError, match=r"AMiner-Paper.txt: line \d+: .*wrong papers"):
        list(source)


def test_the_index_may_come_last_in_every_block(tmp_path):
    blocks = "".join(f"#* T{n}\n#@ A{n};B\n#t {2000 + n}\n#index {n}\n#% 0\n\n" for n in range(9))
    for text in (blocks, blocks.replace("\n\n", "\n")):
        records = list(AMiner(put(tmp_path, {"AMiner-Paper.txt": text})))
        assert [(one.id, one.title, one.year) for one in records] == [
            (str(n), f"T{n}", 2000 + n) for n in range(9)
        ]
        assert records[3].authors[0].name == "A3"


def test_the_citation_network_has_no_blank_behind_its_tags(tmp_path):
    text = (
        "2\n#*Maps of science\n#@Ada Lovelace, Ben Bell\n#year2001\n#confVIS\n#citation3\n"
        "#index7\n#arnetid9\n#!We draw maps.\n\n"
        "#*Trees\n#@Cai Li\n#t2003\n#cKDD\n#index8\n#%7\n#%1\n"
    )
    maps, trees = AMiner(put(tmp_path, {"citation-network-paper.txt": text}))
    assert (maps.id, maps.title, maps.year, maps.venue) == ("7", "Maps of science", 2001, "VIS")
    assert [author.name for author in maps.authors] == ["Ada Lovelace", "Ben Bell"]
    assert (maps.abstract, trees.references) == ("We draw maps.", ("7", "1"))


def test_bytes_that_are_no_text_are_one_malformed_block(tmp_path):
    data = b"#index 1\n#* caf\xe9\n#t 2000\n" + AMINER_PAPER.encode()
    source = AMiner(put(tmp_path, {"AMiner-Paper.txt": data}), malformed_share=0.5)
    assert len(list(source)) == 3
    assert source.report.shown == ["AMiner-Paper.txt:line 1: line 2: not UTF-8"]


def test_a_tag_in_the_middle_of_an_abstract_line_is_text(tmp_path):
    text = "#index 1\n#* C#\n#t 2000\n#! On #% signs\n#hashtags and #index words\n#indexes\n"
    (record,) = AMiner(put(tmp_path, {"AMiner-Paper.txt": text}))
    assert record.title == "C#"
    assert record.abstract == "On #% signs #hashtags and #index words #indexes"


def test_the_join_finds_every_relation_whatever_the_order():
    count = 16_384
    ids = AuthorIds((n % 997, n // 997 + 1, n * 7) for n in reversed(range(count)))
    for paper in (0, 1, 63, 64, 996):
        expected = {place: str((place * 997 + paper) * 7) for place in range(17)}
        found = {place: author for place, author in expected.items() if int(author) < count * 7}
        assert ids.of_paper(str(paper)) == found
    assert ids.of_paper("997") == ids.of_paper("no number") == ids.of_paper("9" * 30) == {}
    assert AuthorIds([(1, 1, 5), (1, 1, 6)]).of_paper("1") == {0: "5"}
