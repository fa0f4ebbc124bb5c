"""The data set of a run: rows, provenance, datasheet and metadata that agree with the files."""

import hashlib
import json

import pyarrow.parquet as pq
import pytest

from virsci_society.scenarios.export.dataset import (
    COLUMNS,
    ORIGIN,
    columns_of,
    dataset_tables,
    write_dataset,
)

IDEA = {"Title": "A title", "Idea": "An idea", "Clarity": 7, "Feasibility": "many", "Novelty": 5.5}


@pytest.fixture
def spoken(make_run, rows):
    """The hand-made run with an idea, a review, and ballots."""
    calls = []
    for row in rows["calls"]:
        row = list(row)
        if row[6] == "vote":
            row[17] = json.dumps({"Decision Made": "Idea 1"})
        if row[6] == "guest":
            row[6], row[17] = "review", json.dumps({"Overall Score": 6})
        if row[6] == "decide":
            row[10], row[17] = "Idea", json.dumps(IDEA)
        calls.append(tuple(row))
    return make_run({**rows, "calls": calls}, digest="d" * 64)


def test_rows_are_those_of_the_run(spoken):
    tables = dataset_tables(spoken)
    assert {name: len(table) for name, table in tables.items()} == {
        "abstracts": 1,
        "ideas": 1,
        "votes": 20,
        "reviews": 1,
    }
    idea = tables["ideas"].iloc[0]
    assert (idea["title"], idea["clarity"], idea["novelty"]) == ("A title", 7.0, 5.5)
    assert tables["ideas"]["feasibility"].isna().all()
    assert set(tables["votes"]["decision"]) == {"Idea 1"}
    paper = tables["abstracts"].iloc[0]
    assert paper["authors"] == "S1; S2; S3; S4"
    assert paper["cites"] == "P1"


def test_every_row_says_that_it_is_machine_generated(spoken):
    for table in dataset_tables(spoken).values():
        assert table["machine_generated"].all()
        assert set(table["digest"]) == {"d" * 64}
        assert set(table["seed"]) == {7}
        assert set(table["model"]) == {"rule-based"}


@pytest.mark.parametrize(("use", "machine"), [("seat", False), ("inbox", None), ("openai", True)])
def test_what_a_person_wrote_is_told_and_what_nobody_knows_is_missing(
    spoken, monkeypatch, use, machine
):
    calls, whole = spoken.table("calls"), spoken.table
    played = calls.assign(model="person (P07)", live=True)
    monkeypatch.setattr(spoken, "table", lambda name: played if name == "calls" else whole(name))
    monkeypatch.setattr(spoken, "scenario", {"backend": {"use": use}})
    for table in dataset_tables(spoken).values():
        told = table["machine_generated"]
        assert told.isna().all() if machine is None else (told == machine).all()


def test_files_and_metadata_agree(spoken, tmp_path):
    counted = write_dataset(tmp_path / "set", spoken)
    metadata = json.loads((tmp_path / "set" / "croissant.json").read_text())
    assert metadata["conformsTo"][0] == "http://mlcommons.org/croissant/1.1"
    assert "Machine-generated" in metadata["description"]
    files = {entry["name"]: entry for entry in metadata["distribution"]}
    for record in metadata["recordSet"]:
        name = record["name"]
        entry = files[f"{name}.parquet"]
        path = tmp_path / "set" / entry["contentUrl"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"]
        file = pq.ParquetFile(path)
        assert file.metadata.num_rows == counted[name]
        assert file.schema_arrow.metadata[b"speaker"].startswith(b"rule-based scientists")
        assert [one["name"] for one in record["field"]] == file.schema_arrow.names
        assert all(one["source"]["fileObject"]["@id"] == entry["@id"] for one in record["field"])


NEEDED = ("@context", "@type", "conformsTo", "description", "license", "name", "url", "creator")
"""What Croissant 1.1 requires of a data set, beside the date and the files."""


def test_the_metadata_tell_how_the_texts_came_about_and_who_spoke(spoken, tmp_path, monkeypatch):
    calls, whole = spoken.table("calls"), spoken.table
    models = ["person (P07)", *["some/model"] * (len(calls) - 1)]
    played = calls.assign(model=models, live=True)
    monkeypatch.setattr(spoken, "table", lambda name: played if name == "calls" else whole(name))
    monkeypatch.setattr(spoken, "scenario", {"backend": {"use": "seat"}})
    write_dataset(tmp_path, spoken, license="CC-BY-4.0", authors=["Ä. B"])
    metadata = json.loads((tmp_path / "croissant.json").read_text())
    assert all(metadata[key] for key in (*NEEDED, "datePublished", "distribution"))
    assert metadata["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert metadata["creator"] == [{"@type": "sc:Person", "name": "Ä. B"}]
    assert metadata["@context"]["prov"] == "http://www.w3.org/ns/prov#"
    activity = metadata["prov:wasGeneratedBy"]
    assert activity["@type"] == "prov:Activity"
    assert "seed 7" in activity["prov:used"][0]["prov:label"]
    assert "d" * 64 in metadata["prov:wasDerivedFrom"]["prov:label"]
    spoke = {one["prov:label"]: one["@type"] for one in metadata["prov:wasAttributedTo"]}
    assert spoke == {"person (P07)": "prov:Person", "some/model": "prov:SoftwareAgent"}
    for record in metadata["recordSet"]:
        told = record["annotation"]
        assert told["equivalentProperty"] == "prov:wasAttributedTo"
        assert told["source"]["extract"]["column"] == "model"
    write_dataset(tmp_path, spoken)
    metadata = json.loads((tmp_path / "croissant.json").read_text())
    assert metadata["license"]["name"] == "none is stated"
    assert metadata["creator"]["name"] == "authors not stated"


def test_the_validator_of_the_format_finds_nothing_and_reads_the_rows(spoken, tmp_path):
    croissant = pytest.importorskip("mlcroissant", reason="needs mlcroissant, which validates")
    counted = write_dataset(tmp_path, spoken)
    dataset = croissant.Dataset(tmp_path / "croissant.json")
    assert dataset.metadata.ctx.is_v1_1()
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    assert list(issues.warnings) == []
    rows = list(dataset.records("ideas"))
    assert len(rows) == counted["ideas"]
    assert rows[0]["ideas/title"] == b"A title"


def test_the_datasheet_lists_every_column_and_who_spoke(spoken, tmp_path):
    write_dataset(tmp_path, spoken)
    words = (tmp_path / "README.md").read_text()
    assert "No person wrote any of them." in words
    assert "rule-based scientists, not a language model" in words
    for name in COLUMNS:
        for column in columns_of(name):
            assert f"| `{column}` |" in words
    assert "$" not in words


def test_a_run_without_words_has_empty_tables(empty_run, tmp_path):
    assert set(write_dataset(tmp_path, empty_run).values()) == {0}
    assert set(pq.read_table(tmp_path / "data" / "votes.parquet").column_names) >= set(ORIGIN)


def test_names_of_a_run_are_no_markup_in_the_datasheet(make_run, tmp_path):
    run = make_run(manifest={"name": "<script>*x*`y`\n# z"})
    write_dataset(tmp_path, run)
    words = (tmp_path / "README.md").read_text()
    assert "<script>" not in words
    assert "\n# z" not in words
