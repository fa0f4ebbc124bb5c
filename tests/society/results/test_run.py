import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.society.results.run import Run, Vectors, resolve_run_folder, write_vectors
from virsci_society.society.results.table_files import write_metrics, write_tables
from virsci_society.society.results.tables import TABLES

ROWS = {
    "scientists": [
        ("S2", "graphs", 4, None, 2008, None, "Oslo"),
        ("S1", "vision", 10, 100, None, None, None),
    ],
    "ties": [("S1", "S2", -1.0, 3), ("S1", "S2", 50.0, 1)],
    "papers": [
        ("S1/1", "S1/1", "A title", "An abstract.", 50.0, "graphs", "a; b", False, None, None)
    ],
}
MANIFEST = {"name": "tiny", "seed": 7, "days": 100.0, "boundary": 2015, "scenario": {"seed": 7}}


@pytest.fixture
def folder(tmp_path):
    """A small finished run folder."""
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST))
    (tmp_path / "scenario.yaml").write_text("seed: 7\n")
    (tmp_path / "events.jsonl").write_text('{"date": 1.0, "what": "founded"}\n{"date": 2.0}\n')
    (tmp_path / "digest").write_text("abc\n")
    write_tables(tmp_path, ROWS)
    write_vectors(tmp_path, Vectors(("S1/1",), np.ones((1, 3), dtype=np.float32)))
    return tmp_path


def test_a_folder_opens_as_tables(folder):
    run = Run.open(folder)
    assert (run.seed, run.days, run.boundary, run.name) == (7, 100.0, 2015, "tiny")
    assert run.scenario == {"seed": 7}
    assert run.scenario_text == "seed: 7\n"
    assert run.digest == "abc"
    assert run.folder == folder
    assert run.table("scientists")["scientist"].tolist() == ["S1", "S2"]
    assert run.vectors.ids == ("S1/1",)
    assert run.vectors.values.dtype == np.float32


def test_every_table_has_its_columns_and_dtypes_also_when_empty(folder):
    for run in (Run.open(folder), Run.from_rows({}, MANIFEST, {})):
        tables = run.tables()
        assert list(tables) == list(TABLES)
        for name, table in tables.items():
            assert list(table.columns) == [column.name for column in TABLES[name]]
            assert [str(dtype) for dtype in table.dtypes] == [c.dtype for c in TABLES[name]]


def test_memory_and_folder_agree(folder):
    there, here = Run.open(folder), Run.from_rows(ROWS, MANIFEST, {})
    for name in TABLES:
        pd.testing.assert_frame_equal(there.table(name), here.table(name))
        assert there.in_arrow(name).equals(here.in_arrow(name))


def test_events_come_in_order(folder):
    run = Run.open(folder)
    assert [event["date"] for event in run.events()] == [1.0, 2.0]
    assert list(run.events()) == list(run.events())
    made = Run.from_rows({}, MANIFEST, {}, events=[{"date": 3.0}])
    assert list(made.events()) == [{"date": 3.0}]
    assert list(Run.from_rows({}, MANIFEST, {}).events()) == []


@pytest.mark.parametrize("line", ["{", "[1]", '"text"', "[" * 100_000])
def test_a_damaged_event_is_named_by_line(folder, line):
    (folder / "events.jsonl").write_text('{"date": 1.0}\n' + line + "\n")
    with pytest.raises(InputError, match=r"events\.jsonl:2"):
        list(Run.open(folder).events())


def test_an_unknown_table_lists_the_tables(folder):
    with pytest.raises(InputError, match=r"'theses'.*scientists, teams, members"):
        Run.open(folder).table("theses")


def test_measures_are_written_and_read(folder):
    write_metrics(folder, {"cost": pd.DataFrame({"team": ["S1/1"], "calls": [80]})})
    run = Run.open(folder)
    assert run.metric_names() == ["cost"]
    assert run.metric("cost")["calls"].tolist() == [80]
    with pytest.raises(InputError, match="'novelty'; this run has: cost"):
        run.metric("novelty")
    with pytest.raises(InputError, match=r"'\.\./teams'"):
        run.metric("../teams")
    with pytest.raises(InputError, match="letters, digits"):
        write_metrics(folder, {"../cost": pd.DataFrame()})


def test_a_measure_may_be_handed_in_or_held_in_memory(folder):
    table = pd.DataFrame({"a": [1]})
    given = Run.from_rows({}, MANIFEST, {}, metrics={"mine": table})
    run = Run.open(folder)
    assert run.add_metric("mine", table) is table
    for one in (given, run):
        assert one.metric_names() == ["mine"]
        assert one.metric("mine") is table
    assert Run.open(folder).metric_names() == []


def test_what_is_not_a_run_folder_says_so(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        Run.open(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"manifest\.json: missing.*not a run folder"):
        Run.open(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        Run.open(tmp_path)
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(InputError, match="not a JSON object"):
        Run.open(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST))
    with pytest.raises(InputError, match="not finished; run it again"):
        Run.open(tmp_path)


def test_a_partial_run_says_why_it_was_stopped(folder):
    assert Run.open(folder).partial is None
    (folder / "manifest.json").write_text(json.dumps(MANIFEST | {"partial": "interrupted"}))
    (folder / "digest").unlink()
    run = Run.open(folder)
    assert (run.partial, run.days, run.digest) == ("interrupted", 100.0, None)


def test_the_part_is_read_only_while_the_run_has_not_finished(folder, tmp_path_factory):
    part = folder / "partial"
    part.mkdir()
    (part / "manifest.json").write_text("{}")
    assert resolve_run_folder(folder) == folder
    (folder / "manifest.json").unlink()
    assert resolve_run_folder(folder) == part
    assert resolve_run_folder(part) == part
    (part / "manifest.json").unlink()
    assert resolve_run_folder(folder) == folder
    part.rmdir()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "manifest.json").write_text("{}")
    os.symlink(elsewhere, part)
    assert resolve_run_folder(folder) == folder
    assert resolve_run_folder(folder / "nowhere") == folder / "nowhere"


def test_a_manifest_without_seed_is_named(folder):
    (folder / "manifest.json").write_text("{}")
    run = Run.open(folder)
    with pytest.raises(InputError, match=r"manifest\.json: no key 'seed'"):
        _ = run.seed
    assert run.boundary is None
    with pytest.raises(InputError, match="the manifest: no key 'days'"):
        _ = Run.from_rows({}, {}, {}).days


def test_a_table_is_read_by_the_names_of_its_columns(folder):
    columns = {"target": ["S2"], "source": ["S1"], "colour": ["red"], "papers": [1], "date": [1]}
    pq.write_table(pa.table(columns), folder / "tables" / "ties.parquet")
    ties = Run.open(folder).table("ties")
    assert list(ties.columns) == ["source", "target", "date", "papers"]
    assert ties["date"].tolist() == [1.0]


def test_a_table_without_a_column_is_an_input_error(folder):
    pq.write_table(pa.table({"source": ["S1"], "date": [1]}), folder / "tables" / "ties.parquet")
    with pytest.raises(InputError, match="table ties: has no column target, papers"):
        Run.open(folder).table("ties")


def test_a_column_of_the_wrong_type_is_named(folder):
    table = pa.table({"source": ["S1"], "target": ["S2"], "date": ["soon"], "papers": [1]})
    pq.write_table(table, folder / "tables" / "ties.parquet")
    with pytest.raises(InputError, match="table ties, column date: not Float64"):
        Run.open(folder).table("ties")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all", b"PAR1" * 1000])
def test_a_damaged_table_is_an_input_error(folder, content):
    (folder / "tables" / "ties.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"ties\.parquet"):
        Run.open(folder).table("ties")


@pytest.mark.slow
def test_a_cell_of_seventy_megabytes_is_refused(folder):
    table = pa.table({"source": ["x" * 70_000_000]})
    pq.write_table(table, folder / "tables" / "ties.parquet", compression="zstd")
    assert (folder / "tables" / "ties.parquet").stat().st_size < 1_000_000
    with pytest.raises(InputError, match="more than a table of a run can have"):
        Run.open(folder).table("ties")


def test_pickled_vectors_are_refused(folder):
    class Trap:
        def __reduce__(self):
            return (print, ("run",))

    ids = np.array([Trap()], dtype=object)
    np.savez(folder / "vectors.npz", paper_ids=ids, vectors=np.ones((1, 3)))
    with pytest.raises(InputError, match=r"vectors\.npz: cannot be read"):
        Run.open(folder)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x93NUMPY"])
def test_damaged_vectors_are_an_input_error(folder, content):
    (folder / "vectors.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"vectors\.npz"):
        Run.open(folder)


def test_vectors_that_unfold_too_far_are_refused(folder, monkeypatch):
    monkeypatch.setattr("virsci_society.society.results.run.MAX_VECTOR_BYTES", 10)
    with pytest.raises(InputError, match="unfolds to more than 10 bytes"):
        Run.open(folder)


def test_vectors_need_one_row_per_paper():
    with pytest.raises(InputError, match="one row per paper"):
        Vectors(("a", "b"), np.ones((1, 3), dtype=np.float32))
    with pytest.raises(InputError, match="one row per paper"):
        Vectors(("a",), np.ones(3, dtype=np.float32))


def test_scientists_have_names_by_id():
    people = [("Scientist0", "a", 0, 0, 2000, None, None)]
    assert Run.from_rows({"scientists": people}, MANIFEST, {}).names == {"Scientist0": "Lindutun"}
