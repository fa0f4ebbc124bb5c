"""Generic JSON lines: read line by line, malformed lines counted and told."""

import json

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers.json_papers import JsonLines
from virsci_society.society.ecosystem.importers.records import RawAuthor

pytestmark = pytest.mark.usefixtures("collected")

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


def write(path, rows):
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_blanks_and_repetitions_go(tmp_path):
    (full,) = JsonLines(write(tmp_path / "papers.jsonl", [FULL]))
    assert (full.title, full.abstract, full.year) == ("A title", "An abstract.", 2001)
    assert full.authors == (RawAuthor("ada", "Ada L.", "Here"), RawAuthor("name:ben", "Ben"))
    assert (full.references, full.keywords) == (("r1", "r2"), ("graphs", "trees"))


def test_optional_fields_may_be_missing_null_or_empty(tmp_path):
    nulls = BARE | {"id": "c", "abstract": None, "authors": None, "n_citation": None}
    empty = BARE | {"id": "d", "n_citation": "", "year": "1999", "keywords": None}
    rows = list(JsonLines(write(tmp_path / "p.jsonl", [BARE, nulls, empty])))
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
    source = JsonLines(write(tmp_path / "p.jsonl", [BARE, "", line]), malformed_share=0.5)
    assert [record.id for record in source] == ["b"]
    assert source.report.malformed == 1
    assert source.report.shown[0].startswith("p.jsonl:line 3: ")
    assert told in source.report.shown[0]


PASSED = {
    '{"id": "x", "title": " ", "year": 2000}': "no title",
    '{"id": "x", "title": "T"}': "no year",
    '{"id": "x", "title": "T", "year": null}': "no year",
    '{"id": "b", "title": "T", "year": 2000}': "duplicate id",
}


@pytest.mark.parametrize(("line", "reason"), PASSED.items(), ids=range(len(PASSED)))
def test_a_well_formed_line_that_cannot_be_used_is_passed_over_by_its_reason(
    line, reason, tmp_path
):
    source = JsonLines(write(tmp_path / "p.jsonl", [BARE, line]))
    assert [record.id for record in source] == ["b"]
    assert (source.report.passed, source.report.malformed) == ({reason: 1}, 0)


def test_a_line_in_another_encoding_is_one_malformed_line(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'{"id": "\xe9", "title": "T", "year": 2000}\n' + json.dumps(BARE).encode())
    source = JsonLines(path, malformed_share=0.5)
    assert [record.id for record in source] == ["b"]
    assert source.report.shown == ["p.jsonl:line 1: not UTF-8"]


def test_a_larger_share_is_an_input_error_that_says_where(tmp_path):
    good = [BARE | {"id": f"p{number}"} for number in range(98)]
    path = write(tmp_path / "p.jsonl", [*good, "{", "{"])
    with pytest.raises(InputError, match=r"(?s)p\.jsonl.*2 malformed.*98 kept.*line 99"):
        list(JsonLines(path))
    assert len(list(JsonLines(path, malformed_share=0.02))) == 98
