"""Each format by its small files: every field of a paper, and what is passed over and why."""

import json
from dataclasses import replace

import pytest

from tests.society.ecosystem.importers.foreign_files import (
    FILES,
    OAG2,
    OAG3,
    OPENALEX,
    VIRSCI,
    balanced,
    kind,
    lines,
    openalex_work,
    put,
)
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers.fields import LONGEST_LITERAL, parse_literal
from virsci_society.society.ecosystem.importers.json_papers import OpenAlex, VirSciFiles
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord
from virsci_society.society.ecosystem.importers.source import open_source

MAPS = RawRecord("p1", "Maps of science", "We draw maps.", 2001, (), venue="Vis")
INDEXED = "We draw maps maps"
ADA, BEN = RawAuthor("name:ada lovelace", "Ada Lovelace"), RawAuthor("name:ben bell", "Ben Bell")
FIRST = {
    "aminer": {
        **{"id": "11", "abstract": "We draw maps. They run over lines.", "venue": "VIS"},
        "authors": (RawAuthor("501", "Ada Lovelace", "Here Univ."), RawAuthor("502", "Ben Bell")),
    },
    "jsonl": {
        "authors": (RawAuthor("ada", "Ada Lovelace", "Here"), BEN),
        **{"keywords": ("maps", "science"), "citations": 3},
    },
    "oag3": {
        **{"id": "53e99784b7602d9701f3e131", "keywords": ("maps",)},
        "authors": (RawAuthor("54488", "Ada Lovelace", "Here"), BEN._replace(name="Ben BELL")),
    },
    "oag2": {
        **{"id": "2507145174", "abstract": INDEXED, "references": ("1976962550", "1982791788")},
        **{"keywords": ("cartography", "science"), "citations": 13},
        "authors": (RawAuthor("2277886111", "Ada Lovelace", "Here."),),
    },
    "dblp10": {
        **{"id": "00127ee2-cb05-48ce-bc49-9de556b93346", "venue": "vis", "citations": 0},
        **{"references": ("51c7e02e-f5ed-431a-8cf5-f761f266d4be",), "authors": (ADA, BEN)},
    },
    "dblp12": {
        **{"id": "1091", "abstract": INDEXED, "references": ("2005687710", "2018037215")},
        **{"keywords": ("Cartography",), "citations": 2},
        "authors": (RawAuthor("2312688602", "Ada Lovelace", "Here"),),
    },
    "openalex": {
        **{"id": "W1", "title": "Work 1", "abstract": INDEXED, "references": ("W1", "W99")},
        **{"keywords": ("Maps",), "citations": 5, "citations_by_year": ((2010, 1), (2012, 3))},
        "authors": (RawAuthor("A7", "Ada", "Here"),),
    },
    "virsci": {"authors": (ADA._replace(affiliation="Here"), BEN), "citations": 3},
}
"""Format -> what its first paper has that ``MAPS`` has not."""
LATER = {
    "aminer": [("12", ("11", "99"), None), ("13", ("11", "12"), None)],
    "jsonl": [("p2", ("p1", "x"), None), ("p3", ("p1", "p2"), None)],
    "oag3": [("b2", ("53e99784b7602d9701f3e131",), None), ("b3", (), 4)],
    "oag2": [("7", ("2507145174",), None), ("8", (), None)],
    "dblp10": [("b", (), 50)],
    "dblp12": [("1388", (), None), ("1674", ("1091",), None)],
    "openalex": [("W2", ("W1", "W99"), 5), ("W3", ("W1", "W99"), 5)],
    "virsci": [("p2", ("p1", "x"), None), ("3", ("p1", "p2"), None)],
}
"""Format -> id, references and citations of its other papers."""
PASSED = {"oag3": {"no id": 1, "no year": 1, "doc_type patent": 1}}


@pytest.mark.parametrize("format_", FIRST)
def test_every_field_of_a_paper_is_read(format_, tmp_path):
    source = open_source(kind(format_), put(tmp_path, FILES[format_]))
    first, *later = source
    assert first == replace(MAPS, **FIRST[format_])
    assert [(one.id, one.references, one.citations) for one in later] == LATER[format_]
    assert source.report.passed == PASSED.get(format_, {})
    assert balanced(source.report)


def test_files_of_authors_and_venues_are_told_by_their_fields_and_counted(tmp_path):
    authors = [{"id": "5", "name": "Ada", "org": "Here"}, {"id": "6", "name": "Ben", "org": ""}]
    venues = [{"id": 1, "JournalId": 1, "DisplayName": "Vis", "NormalizedName": "vis"}]
    files = {"a.json": lines(authors), "v.txt": lines(venues), "p.json": lines(OAG3)}
    source = open_source("oag", put(tmp_path, files))
    assert len(list(source)) == 3
    assert source.report.unused == ["a.json: no publications", "v.txt: no publications"]


def test_both_sides_of_2_at_once_are_refused(tmp_path):
    files = {"mag_papers_0.txt": lines(OAG2), "aminer_papers_0.txt": lines(OAG3)}
    with pytest.raises(InputError, match="the same papers under different ids"):
        list(open_source("oag", put(tmp_path, files)))
    assert len(list(open_source("oag", tmp_path / "aminer_papers_0.txt"))) == 3


FULL = {
    "id": "10.1/x",
    "title": " A  title ",
    "abstract": "An abstract.",
    "year": 2001,
    "authors": [{"id": "ada", "name": "Ada L.", "org": "Here"}, {"name": "Ben"}],
    "n_citation": 3,
    "references": ["r1", "r2", "r1", ""],
    "venue": "Vis",
    "keywords": ["graphs", " graphs ", "trees"],
    "doc_type": "J",
}
BARE = {"id": "b", "title": "T", "year": 1999}


def jsonl(path, **options):
    return open_source("jsonl", path, **options)


def write(path, rows):
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_blanks_and_repetitions_go(tmp_path):
    (full,) = jsonl(write(tmp_path / "papers.jsonl", [FULL]))
    assert (full.title, full.abstract, full.year) == ("A title", "An abstract.", 2001)
    assert full.authors == (RawAuthor("ada", "Ada L.", "Here"), RawAuthor("name:ben", "Ben"))
    assert (full.references, full.keywords) == (("r1", "r2"), ("graphs", "trees"))


def test_optional_fields_may_be_missing_null_or_empty(tmp_path):
    nulls = BARE | {"id": "c", "abstract": None, "authors": None, "n_citation": None}
    empty = BARE | {"id": "d", "n_citation": "", "year": "1999", "keywords": None}
    rows = list(jsonl(write(tmp_path / "p.jsonl", [BARE, nulls, empty])))
    assert [(r.id, r.year, r.citations, r.abstract, r.authors) for r in rows] == [
        (name, 1999, None, "", ()) for name in "bcd"
    ]


BROKEN = {
    "{": "Expecting",
    "[1]": "not a JSON object",
    '{"title": "T", "year": 2000}': "id is missing",
    '{"id": "x", "title": 5, "year": 2000}': "title is not text",
    '{"id": [5, 6], "title": "T", "year": 2000}': "id is not text",
    '{"id": "x", "title": "T", "year": "soon"}': "year is 'soon'",
    '{"id": "x", "title": "T", "year": true}': "year is True",
    '{"id": "x", "title": "T", "year": 20000}': "year is 20000",
    '{"id": "x", "title": "T", "year": 2000, "authors": [5]}': "author is not an object",
    '{"id": "x", "title": "T", "year": 2000, "references": 5}': "references is not a list",
    '{"id": "x", "title": "T", "year": 2000, "n_citation": -1}': "n_citation is -1",
    '{"id": "x", "title": "T", "year": 2000, "n_citation": 1e99}': "n_citation is 1e+99",
    '{"id": "x", "title": "T", "year": 2000, "n_citation": 99999999999}': "n_citation is 999",
    "[" * 100_000: "",
}


@pytest.mark.parametrize(("line", "told"), BROKEN.items(), ids=range(len(BROKEN)))
def test_a_malformed_line_is_told_with_its_number(line, told, tmp_path):
    source = jsonl(write(tmp_path / "p.jsonl", [BARE, "", line]), malformed_share=0.5)
    assert [record.id for record in source] == ["b"]
    assert source.report.malformed == 1
    assert source.report.shown[0].startswith("p.jsonl:line 3: ")
    assert told in source.report.shown[0]


UNUSABLE = {
    '{"id": "x", "title": " ", "year": 2000}': "no title",
    '{"id": "x", "title": "T"}': "no year",
    '{"id": "x", "title": "T", "year": null}': "no year",
    '{"id": "b", "title": "T", "year": 2000}': "duplicate id",
}


@pytest.mark.parametrize(("line", "reason"), UNUSABLE.items(), ids=range(len(UNUSABLE)))
def test_a_well_formed_line_that_cannot_be_used_is_passed_over_by_its_reason(
    line, reason, tmp_path
):
    source = jsonl(write(tmp_path / "p.jsonl", [BARE, line]))
    assert [record.id for record in source] == ["b"]
    assert (source.report.passed, source.report.malformed) == ({reason: 1}, 0)


def test_a_line_in_another_encoding_is_one_malformed_line(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'{"id": "\xe9", "title": "T", "year": 2000}\n' + json.dumps(BARE).encode())
    source = jsonl(path, malformed_share=0.5)
    assert [record.id for record in source] == ["b"]
    assert source.report.shown == ["p.jsonl:line 1: not UTF-8"]


def test_a_larger_share_is_an_input_error_that_says_where(tmp_path):
    good = [BARE | {"id": f"p{number}"} for number in range(98)]
    path = write(tmp_path / "p.jsonl", [*good, "{", "{"])
    with pytest.raises(InputError, match=r"(?s)p\.jsonl.*2 malformed.*98 valid.*line 99"):
        list(jsonl(path))
    assert len(list(jsonl(path, malformed_share=0.02))) == 98


def read_works(folder, rows, name="works.jsonl", **options):
    """The source of some works and its records."""
    source = OpenAlex(put(folder, {name: lines(rows)}), **options)
    return source, list(source)


def test_a_page_a_single_work_and_a_snapshot_give_the_same_records(tmp_path):
    expected = read_works(tmp_path / "lines", OPENALEX)[1]
    page = {"meta": {"count": 3}, "results": OPENALEX, "group_by": []}
    ways = {
        "page.json": json.dumps(page) + "\n\n",
        "indented.json": json.dumps(page, indent=1),
        "list.json": json.dumps(OPENALEX),
        "works/updated_date=2024-01-01/part_000.gz": lines(OPENALEX),
    }
    for name, text in ways.items():
        folder = tmp_path / name.replace("/", "-")
        assert list(OpenAlex(put(folder, {name: text}))) == expected
    put(tmp_path / "one", {"work.json": json.dumps(OPENALEX[0], indent=1)})
    assert list(OpenAlex(tmp_path / "one" / "work.json")) == expected[:1]


def test_only_works_of_a_snapshot_are_read_and_the_newest_of_each(tmp_path):
    old, new = openalex_work(1, title="Old"), openalex_work(1, title="New")
    files = {
        "data/works/updated_date=2023-01-01/part_000.gz": lines([old, openalex_work(2)]),
        "data/works/updated_date=2024-02-01/part_000.gz": lines([new]),
        "data/works/updated_date=2024-02-01/part_001.gz": lines([openalex_work(3)]),
        "data/works/manifest": "{}",
        "data/authors/updated_date=2024-02-01/part_000.gz": lines([{"id": "A1"}]),
        "data/merged_ids/works/2024.csv.gz": "merged",
    }
    source = OpenAlex(put(tmp_path, files))
    assert [(record.id, record.title) for record in source] == [
        ("W1", "New"),
        ("W3", "Work 3"),
        ("W2", "Work 2"),
    ]
    assert source.report.passed == {"duplicate id": 1}
    assert any("merged_ids" in told for told in source.unknown)


def test_what_is_no_paper_is_passed_over_by_reason(tmp_path):
    rows = [
        *OPENALEX,
        openalex_work(4, is_retracted=True),
        openalex_work(5, is_paratext=True),
        openalex_work(6, type="paratext"),
        openalex_work(7, title=None),
        openalex_work(8, publication_year=None),
        {"id": "https://openalex.org/A5", "display_name": "Ada"},
    ]
    source, records = read_works(tmp_path, rows)
    assert len(records) == 3
    assert source.report.passed == {
        "retracted": 1,
        "paratext": 2,
        "no title": 1,
        "no year": 1,
        "not a work": 1,
    }
    assert balanced(source.report)


def test_keywords_fall_back_to_topics_and_then_to_likely_concepts(tmp_path):
    topics = {"keywords": [], "topics": [{"display_name": "Cartography"}]}
    concepts = [{"display_name": "Map", "score": 0.5}, {"display_name": "Far", "score": 0.1}]
    rows = [
        openalex_work(1, keywords=[{"keyword": "maps"}, "trees"]),
        openalex_work(2, **topics, concepts=concepts),
        openalex_work(3, keywords=None, concepts=concepts),
    ]
    assert [record.keywords for record in read_works(tmp_path, rows)[1]] == [
        ("maps", "trees"),
        ("Cartography",),
        ("Map",),
    ]


def test_older_and_emptier_works_are_read_as_far_as_they_go(tmp_path):
    bare = {"id": "W4", "display_name": "Bare", "publication_year": 1999}
    older = openalex_work(5, primary_location=None, host_venue={"display_name": "Old Vis"})
    older["authorships"] = [
        {
            "author": {"id": None, "display_name": "Ben"},
            "institutions": [],
            "raw_affiliation_strings": ["There"],
        },
        {"author": None, "raw_author_name": "Cai"},
        {"author": {}},
    ]
    source, (first, second) = read_works(tmp_path, [bare, older])
    assert first == RawRecord(id="W4", title="Bare", abstract="", year=1999, authors=())
    assert second.venue == "Old Vis"
    assert second.authors == (RawAuthor("name:ben", "Ben", "There"), RawAuthor("name:cai", "Cai"))
    assert (source.report.named, source.report.left_out) == (2, 1)


def test_positions_that_are_huge_cost_nothing_and_gaps_close(tmp_path):
    index = {"end": [10**15], "begin": [3]}
    _, (record,) = read_works(tmp_path, [openalex_work(1, abstract_inverted_index=index)])
    assert record.abstract == "begin end"


def test_profiles_and_matrices_are_counted_and_not_used(tmp_path):
    source = VirSciFiles(put(tmp_path, FILES["virsci"]))
    list(source)
    assert source.report.read == 3
    assert source.report.unused == ["adjacency.txt: derived", "author_0.txt: derived"]


@pytest.mark.parametrize(
    "text",
    [
        "__import__('pathlib').Path({path!r}).touch()",
        "{{'id': open({path!r}, 'w')}}",
        "{{'id': [x for x in open({path!r}, 'w')]}}",
        "(lambda: open({path!r}, 'w'))()",
        "f\"{{open({path!r}, 'w')}}\"",
    ],
)
def test_nothing_in_a_file_is_run(text, tmp_path):
    mark = tmp_path / "mark"
    text = text.format(path=str(mark))
    put(tmp_path / "p", {"0.txt": VIRSCI[0], "1.txt": text})
    source = VirSciFiles(tmp_path / "p", malformed_share=0.5)
    assert len(list(source)) == 1
    assert source.report.malformed == 1
    assert "not a Python literal" in source.report.shown[0]
    assert not mark.exists()


@pytest.mark.parametrize(
    "data",
    [
        "[" * 100_000,
        "-" * 200_000 + "1",
        "1+" * 60_000 + "1",
        "9" * 100_000,
        "'a' * 10**9",
        "10**10**10",
        "\x00",
        "\udcff",
        "{[]: 1}",
        "",
    ],
    ids=range(10),
)
def test_a_literal_that_is_none_says_so_in_words(data):
    with pytest.raises(ValueError, match=r"literal|deeply|longer|UTF-8") as told:
        parse_literal(data)
    assert "0x" not in str(told.value)


def test_a_literal_that_is_too_long_is_not_parsed():
    longest = "'" + "a" * (LONGEST_LITERAL - 2) + "'"
    assert len(parse_literal(longest)) == LONGEST_LITERAL - 2
    with pytest.raises(ValueError, match="longer than 262,144 characters"):
        parse_literal(longest + " ")
