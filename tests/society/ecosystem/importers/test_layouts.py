"""The layouts in which the same papers come: all read, or named with the way to convert them."""

import bz2
import io
import json
import lzma
import tarfile
import zipfile

import pytest

from tests.society.ecosystem.importers.foreign_files import JSONL, OPENALEX, lines, put
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers import json_papers
from virsci_society.society.ecosystem.importers.source import open_source

PLAIN = lines(JSONL)


def boxed(value):
    """As R's jsonlite writes it without auto_unbox."""
    if isinstance(value, dict):
        return {name: boxed(one) for name, one in value.items()}
    if isinstance(value, list):
        return [one if isinstance(one, str) else boxed(one) for one in value]
    return {} if value is None else [value]


PRETTY = "".join(json.dumps(row, indent=2) + "\n" for row in JSONL)
LAYOUTS = {
    "pretty-printed objects": PRETTY,
    "pretty-printed list": json.dumps(JSONL, indent=1),
    "list on one line": json.dumps(JSONL),
    "list without blanks": json.dumps(JSONL, separators=(",", ":")),
    "objects behind one another": "".join(json.dumps(row) for row in JSONL),
    "objects after record separators": "".join(f"\x1e{json.dumps(row)}\n" for row in JSONL),
    "a list in an object": json.dumps({"total": 3, "next": 4, "data": JSONL}),
    "CRLF": PLAIN.replace("\n", "\r\n"),
    "BOM": "\ufeff" + PLAIN,
    "BOM before a list": "\ufeff" + json.dumps(JSONL),
    "NaN for null": PLAIN.replace("null", "NaN"),
    "boxed scalars": lines([boxed(row) for row in JSONL]),
    "years with a fraction": PLAIN.replace('"2005"', '"2005.0"').replace("2001,", "2001.0,"),
    "dates": PLAIN.replace('"2005"', '"2005-03-01"'),
    "lists written as text": lines(
        [row | {"references": json.dumps(row["references"])} for row in JSONL]
    ),
    "Python lists written as text": lines(
        [row | {"references": repr(row["references"])} for row in JSONL]
    ),
    "lists of one as scalars": lines(
        [row | {"references": ";".join(row["references"])} for row in JSONL]
    ),
}


@pytest.fixture(params=[json_papers.CHUNK, 64, 7])
def chunk(request, monkeypatch):
    """A few sizes of chunk: values and characters are cut anywhere."""
    monkeypatch.setattr(json_papers, "CHUNK", request.param)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_papers_in_another_layout_are_the_same(layout, tmp_path, chunk):
    plain = list(open_source("jsonl", put(tmp_path / "plain", {"p.jsonl": PLAIN})))
    source = open_source("jsonl", put(tmp_path / "other", {"p.json": LAYOUTS[layout]}))
    assert list(source) == plain
    assert source.report.read == 3


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_other_encodings_are_read(encoding, tmp_path):
    text = PLAIN.replace("Ada", "Zo\u00eb \u4e2d")
    plain = list(open_source("jsonl", put(tmp_path / "plain", {"p.jsonl": text})))
    data = text.encode(encoding)
    data = b"\xfe\xff" + data if encoding.endswith("be") else data
    (tmp_path / "p.jsonl").write_bytes(data)
    assert list(open_source("jsonl", tmp_path / "p.jsonl")) == plain


def test_an_inverted_index_may_be_text(tmp_path):
    index = OPENALEX[0]["abstract_inverted_index"]
    rows = [
        row | {"abstract_inverted_index": write(index)}
        for row, write in zip(OPENALEX, (json.dumps, repr, lambda one: one), strict=True)
    ]
    works = list(open_source("openalex", put(tmp_path, {"p.jsonl": lines(rows)})))
    assert [work.abstract for work in works] == ["We draw maps maps"] * 3


def test_values_of_mongodbs_shell_are_read(tmp_path):
    text = """[
{ "_id" : ObjectId("53e9"), "title" : "Maps", "year" : NumberInt(2001),
  "n_citation" : NumberLong("7"),
  "authors" : [ { "_id" : "5481", "name" : "Ada", "org" : "Here" } ],
  "venue" : { "_id" : "v", "name_d" : "VIS" }, "references" : [ "a" ] },
{ "_id" : "54", "title" : "Trees", "year" : NumberInt(2003) }
]"""
    maps, trees = open_source("dblp", put(tmp_path, {"dblpv13.json": text}))
    assert (maps.id, maps.year, maps.citations, maps.venue) == ("53e9", 2001, 7, "VIS")
    assert (maps.authors[0].id, trees.id) == ("5481", "54")


@pytest.mark.parametrize(("ending", "pack"), [(".bz2", bz2.compress), (".xz", lzma.compress)])
def test_other_packed_files_are_read_and_found(ending, pack, tmp_path):
    (tmp_path / f"p.jsonl{ending}").write_bytes(pack(PLAIN.encode()))
    assert len(list(open_source("jsonl", tmp_path))) == 3


def test_a_list_on_one_line_may_be_longer_than_the_longest_value(tmp_path, monkeypatch):
    monkeypatch.setattr(json_papers, "LONGEST", 2000)
    monkeypatch.setattr(json_papers, "CHUNK", 500)
    rows = [JSONL[1] | {"id": f"p{number}"} for number in range(200)]
    source = open_source("jsonl", put(tmp_path, {"p.json": json.dumps(rows)}))
    assert sum(1 for _ in source) == 200


def test_a_broken_object_in_a_list_on_one_line_hides_no_others(tmp_path):
    rows = [JSONL[1] | {"id": f"p{number}"} for number in range(500)]
    text = json.dumps(rows).replace('"id": "p300"', '"id": p300')
    with pytest.raises(InputError, match=r"line 1: .*cannot be read: write one paper a line"):
        list(open_source("jsonl", put(tmp_path, {"p.json": text})))


def zipped():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("p.jsonl", PLAIN)
    return made.getvalue()


def tarred(mode):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        member = tarfile.TarInfo("p.jsonl")
        member.size = len(PLAIN)
        archive.addfile(member, io.BytesIO(PLAIN.encode()))
    return made.getvalue()


OTHERS = {
    "p.zip": (zipped(), "is a zip archive or Excel file: unpack it"),
    "p.tar": (tarred("w"), "is a tar archive: unpack it with tar -xf"),
    "p.tar.gz": (tarred("w:gz"), "is a tar archive: unpack it with tar -xf"),
    "p.tar.bz2": (tarred("w:bz2"), "is a tar archive: unpack it with tar -xf"),
    "p.parquet": (b"PAR1\x00\x00", "is Parquet: convert it with pandas"),
    "p.zst": (b"\x28\xb5\x2f\xfd\x04", "packed by zstd"),
    "p.csv": (b"title,year\nMaps,2001\n", "is CSV: build it as csv"),
    "tabs.txt": (b"TI\tPY\nMaps\t2001\n", "is CSV"),
    "p.ris": (b"TY  - JOUR\nTI  - Maps\nPY  - 2001\n", "is RIS: build it as ris"),
    "p.bib": (b"@article{a, title={Maps}, year=2001}\n", "is BibTeX: build it as bibtex"),
    "savedrecs.txt": (b"FN Clarivate\nVR 1.0\n", "is a tagged text export: export RIS or CSV"),
    "cochrane.txt": (b"Record #1 of 2\nTI: Maps\n", "is a tagged text export"),
    "p.nbib": (b"PMID- 1\nTI  - Maps\n", "is a tagged text export"),
    "page.html": (b"<!DOCTYPE html><html>", "is a web page or XML"),
    "AMiner-Paper.txt": (b"#index 1\n#* Maps\n", "is AMiner's text: build it as aminer"),
    "dicts.txt": (b"{'id': 'p1', 'title': 'Maps'}\n", "contains Python dicts"),
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.bib", "@article(a, title={Maps}, year={2001})\n"),
        ("p.bib", "% Made by a tool, today\n\n@article{a, title={Maps}, year={2001}}\n"),
        ("p.ris", "https://x.org/a;b\nTY  - JOUR\nTI  - Maps\nPY  - 2001\nER  - \n"),
        ("p.csv", "Record #,Title,Year\n1,Maps,2001\n"),
    ],
)
def test_what_precedes_the_first_paper_does_not_hide_the_layout(name, text, tmp_path):
    pytest.importorskip("bibtexparser")
    kind = {"p.bib": "bibtex", "p.ris": "ris", "p.csv": "csv"}[name]
    (paper,) = open_source(kind, put(tmp_path, {name: text}))
    assert (paper.title, paper.year) == ("Maps", 2001)


def test_lines_are_counted_from_the_top_of_a_csv_file(tmp_path):
    source = open_source("csv", put(tmp_path, {"p.csv": "sep=,\nTitle,Year\nMaps,2001\n"}))
    assert [paper.id for paper in source] == ["p.csv:3"]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "ris", "bibtex"])
@pytest.mark.parametrize("name", OTHERS)
def test_another_layout_is_named_with_what_to_do(name, kind, tmp_path):
    pytest.importorskip("bibtexparser")
    data, what = OTHERS[name]
    (tmp_path / name).write_bytes(data)
    if f"as {kind}" in what or (kind == "csv" and name == "tabs.txt"):
        assert list(open_source(kind, tmp_path / name, malformed_share=1))
        return
    with pytest.raises(InputError, match=rf"{name}: .*{what}"):
        list(open_source(kind, tmp_path / name))
