"""What every source keeps to: files, shares, counts, places and ids."""

import gzip
import json
from dataclasses import asdict
from pkgutil import resolve_name

import pytest

from tests.society.ecosystem.importers.foreign_files import (
    FILES,
    JSONL,
    MAIN,
    balanced,
    kind,
    lines,
    put,
)
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers import json_papers
from virsci_society.society.ecosystem.importers.records import IMPORTERS
from virsci_society.society.ecosystem.importers.source import RECENT, IdSet, Source, open_source

FORMATS = sorted(FILES)


def opened(format_, folder, **options):
    """The source of a format's files, written to a folder."""
    return open_source(kind(format_), put(folder, FILES[format_]), **options)


def test_the_table_names_every_source_by_its_kind():
    kinds = ["jsonl", "aminer", "oag", "openalex", "virsci", "dblp", "csv", "ris", "bibtex"]
    assert list(IMPORTERS) == kinds
    for name, path in IMPORTERS.items():
        source = resolve_name(path)
        assert issubclass(source, Source)
        assert source.kind == name


def test_an_unknown_source_is_told_with_the_nearest():
    with pytest.raises(InputError, match=r"'openalx' is not a source.*did you mean 'openalex'"):
        open_source("openalx", "x")


@pytest.mark.parametrize("format_", FORMATS)
def test_a_source_may_be_read_again_and_loses_nothing(format_, tmp_path):
    source = opened(format_, tmp_path)
    first = list(source)
    counts = asdict(source.report)
    assert list(source) == first
    assert asdict(source.report) == counts
    assert source.report.kept == len(first) >= 2
    assert balanced(source.report)


@pytest.mark.parametrize("format_", FORMATS)
def test_packed_and_plain_files_give_the_same_records(format_, tmp_path):
    plain = list(opened(format_, tmp_path / "plain"))
    packed = tmp_path / "packed"
    for name, text in FILES[format_].items():
        path = packed / (name if name.endswith(".gz") else f"{name}.gz")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))
    if format_ == "virsci":
        (packed / "author_0.txt.gz").unlink()
        (packed / "adjacency.txt.gz").unlink()
    assert list(open_source(kind(format_), packed)) == plain


@pytest.mark.parametrize("format_", FORMATS)
def test_a_file_cut_short_gives_what_was_readable_and_then_an_error(format_, tmp_path):
    put(tmp_path, FILES[format_])
    path = tmp_path / MAIN[format_]
    text = FILES[format_][MAIN[format_]].encode()
    packed = path if path.suffix == ".gz" else path.with_name(path.name + ".gz")
    path.unlink()
    packed.write_bytes(gzip.compress(text)[:-12])
    source, found = open_source(kind(format_), tmp_path), []
    with pytest.raises(InputError, match=rf"{packed.name}: cannot be read"):
        found.extend(source)
    assert balanced(source.report)
    assert len(found) == source.report.kept


@pytest.mark.parametrize("name", IMPORTERS)
def test_a_missing_path_and_an_empty_folder_are_input_errors(name, tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        list(open_source(name, tmp_path / "none"))
    with pytest.raises(InputError, match=r"contains no .*\w"):
        list(open_source(name, tmp_path))
    with pytest.raises(InputError, match="no path given"):
        list(open_source(name, []))


@pytest.mark.parametrize("name", IMPORTERS)
def test_an_empty_file_holds_no_readable_record(name, tmp_path):
    (tmp_path / "AMiner-Paper.txt").write_text("")
    with pytest.raises(InputError, match="no readable record"):
        list(open_source(name, tmp_path / "AMiner-Paper.txt"))


def test_several_paths_are_one_source_and_no_file_is_read_twice(tmp_path):
    for number, row in enumerate(JSONL):
        put(tmp_path, {f"{number}/p.jsonl": lines([row])})
    source = open_source("jsonl", [tmp_path / "2", tmp_path, tmp_path / "0" / "p.jsonl"])
    assert [record.id for record in source] == ["p3", "p1", "p2"]
    assert [file.label for file in source.files] == ["p.jsonl", "0/p.jsonl", "1/p.jsonl"]


def test_hidden_files_and_other_endings_in_a_folder_are_not_its_data(tmp_path):
    put(tmp_path, {"p.jsonl": lines(JSONL), ".p.jsonl": "x", "README.md": "x", "p.parquet": "x"})
    assert len(list(open_source("jsonl", tmp_path))) == 3


def test_the_counts_show_the_first_twenty_and_name_the_file_in_the_folder(tmp_path):
    put(tmp_path, {"a/p.jsonl": lines(JSONL), "b/p.jsonl": "{\n" * 30})
    source = open_source("jsonl", tmp_path, malformed_share=1)
    assert len(list(source)) == 3
    assert (source.report.read, source.report.malformed) == (33, 30)
    assert len(source.report.shown) == 20
    assert source.report.shown[0].startswith("b/p.jsonl:line 1: ")
    assert source.report.summary() == "33 records: 3 kept, 0 passed over, 30 malformed"


def test_names_are_one_identity_however_they_are_written(tmp_path):
    names = ["Zo\u00eb  Lee", "Zoe\u0308 LEE", "\uff3a\uff4f\u00eb lee", "Zoe Lee"]
    rows = [
        {"id": f"p{n}", "title": "T", "year": 2000, "authors": [{"name": name}]}
        for n, name in enumerate(names)
    ]
    records = list(open_source("jsonl", put(tmp_path, {"p.jsonl": lines(rows)})))
    keys = [record.authors[0].id for record in records]
    assert keys == ["name:zo\u00eb lee"] * 3 + ["name:zoe lee"]
    assert records[0].authors[0].name == "Zo\u00eb Lee"


def test_authors_of_records_that_are_not_kept_are_not_counted(tmp_path):
    row = {"id": "p", "title": "T", "year": 2000, "authors": [{"name": "Ada"}, {"org": "Here"}]}
    rows = [row, row, row | {"id": "q", "n_citation": "many"}]
    source = open_source("jsonl", put(tmp_path, {"p.jsonl": lines(rows)}), malformed_share=0.5)
    assert len(list(source)) == 1
    assert (source.report.named, source.report.left_out) == (1, 1)


def test_a_line_longer_than_is_taken_is_one_malformed_record(tmp_path, monkeypatch):
    monkeypatch.setattr(json_papers, "LONGEST", 400)
    monkeypatch.setattr(json_papers, "CHUNK", 100)
    long = json.dumps(JSONL[1] | {"id": "long", "abstract": "x" * 2000})
    text = lines(JSONL[:1]) + long + "\n" + lines(JSONL[1:])
    source = open_source("jsonl", put(tmp_path, {"p.jsonl": text}), malformed_share=0.5)
    assert [record.id for record in source] == ["p1", "p2", "p3"]
    assert source.report.malformed == 1
    assert "longer than" in source.report.shown[0]


def test_what_no_record_has_is_said_to_be_unknown(tmp_path):
    source = open_source(
        "jsonl", put(tmp_path, {"p.jsonl": lines([{"id": "a", "title": "T", "year": 2000}])})
    )
    assert source.unknown == ()
    list(source)
    assert [told.split(":")[0] for told in source.unknown] == [
        "no abstracts",
        "no authors",
        "no references",
        "no keywords",
        "no citation counts",
    ]


def test_ids_are_remembered_in_eight_bytes_and_all_of_them():
    seen, count = IdSet(), 2 * RECENT + 500
    assert all(seen.add(f"id {number}") for number in range(count))
    assert not any(seen.add(f"id {number}") for number in range(0, count, 37))
    assert seen.add("another")
    assert sum(run.nbytes for run in seen._sorted) == 2 * RECENT * 8
