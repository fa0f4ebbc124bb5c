"""Every file that is made from a run says who spoke, as readers of others find it."""

import json

import pandas as pd
import pyarrow.parquet as pq

from virsci_society.society.results.run import Run
from virsci_society.society.results.table_files import (
    read_parquet,
    write_metrics,
    write_parquet,
    write_tables,
)
from virsci_society.society.results.text_provenance import (
    CSV_METADATA,
    events_header,
    is_events_header,
    join_speakers,
)

RULES = "rule-based scientists, not a language model"


def test_speakers_of_several_runs_are_named_once():
    assert join_speakers(["b", "", "a", "b"]) == "a; b"


def test_parquet_files_hold_the_speaker_and_the_same_table(tmp_path):
    write_tables(tmp_path, {"ties": [("S1", "S2", -1.0, 3)]}, RULES)
    write_metrics(tmp_path, {"cost": pd.DataFrame({"team": ["S1/1"]})}, RULES)
    paths = sorted(tmp_path.rglob("*.parquet"))
    assert len(paths) > 10
    for path in paths:
        assert pq.read_schema(path).metadata == {b"speaker": RULES.encode()}
    assert read_parquet(tmp_path / "tables" / "ties.parquet")["papers"].tolist() == [3]
    write_parquet(tmp_path / "plain.parquet", pd.DataFrame({"a": [1]}))
    assert pq.read_schema(tmp_path / "plain.parquet").metadata is None


def test_csv_files_have_a_metadata_file_beside_them(tmp_path):
    Run.from_rows({}, {"backend": {"about": RULES}}, {}).to_csv(tmp_path)
    content = json.loads((tmp_path / CSV_METADATA).read_text())
    assert content["@context"] == "http://www.w3.org/ns/csvw"
    assert content["dc:creator"] == RULES
    named = [table["url"] for table in content["tables"]]
    assert named == sorted(path.name for path in tmp_path.glob("*.csv"))


def test_the_first_line_of_the_events_is_no_event(tmp_path):
    (tmp_path / "manifest.json").write_text('{"seed": 1}')
    write_tables(tmp_path, {}, RULES)
    event = '{"date": 1.0, "sequence": 0, "kind": "founded"}\n'
    (tmp_path / "events.jsonl").write_text(events_header(RULES) + event)
    assert [one["kind"] for one in Run.open(tmp_path).events()] == ["founded"]
    lines = pd.read_json(tmp_path / "events.jsonl", lines=True)
    assert lines["speaker"].tolist()[0] == RULES
    assert events_header("") == ""
    assert not is_events_header({"speaker": "x", "kind": "founded"})
