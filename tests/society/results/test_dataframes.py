import random
from math import nan

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.agents.errors import InputError
from virsci_society.society.results import table_files
from virsci_society.society.results.dataframes import (
    SORT_COLUMNS,
    build_table,
    cast_table,
    to_frame,
)
from virsci_society.society.results.digest import digest_tables
from virsci_society.society.results.table_files import write_tables
from virsci_society.society.results.tables import TABLES

TIES = [("S1", "S2", -1.0, 3), ("S1", "S3", 50.0, 1), ("S2", "S3", 50.0, None)]


def test_calls_and_members_come_by_date():
    rows = [("T2", "S1", "leader", 1.0, None, None, 0), ("T1", "S1", "leader", 5.0, None, True, 1)]
    table = to_frame(build_table("members", rows))
    assert table["team"].tolist() == ["T2", "T1"]
    assert table["left"].isna().all()
    assert table["stayed"].tolist() == [pd.NA, True]


@pytest.mark.parametrize("name", ["ties", "members", "calls"])
def test_tables_come_in_the_order_that_pandas_gives_them(name):
    draw = random.Random(name)
    some = {
        "string": ["a", "B", "ü", "\U0001f600", "\uffee", "", None],
        "Int64": [2, -1, 10, None],
        "Float64": [0.0, -0.0, 1e-300, float("inf"), None],
        "boolean": [True, False, None],
    }
    columns = TABLES[name]
    rows = [tuple(draw.choice(some[one.dtype]) for one in columns) for _ in range(200)]
    table = to_frame(build_table(name, rows))
    by = list(dict.fromkeys([*SORT_COLUMNS[name], *table.columns]))
    shuffled = table.sample(frac=1.0, random_state=3)
    ordered = shuffled.sort_values(by=by, kind="stable", na_position="last", ignore_index=True)
    pd.testing.assert_frame_equal(table, ordered)


def test_unknown_tables_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match="no such table: theses"):
        write_tables(tmp_path, {"theses": []})
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="no table is called 'theses'"):
        build_table("theses")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("S1", "S2", 1.0), r"table ties: a row has 3 values, expected 4: \('S1'"),
        (("S1", "S2", "soon", 1), "table ties, column date: not"),
        (("S1", "S2", 1.0, 1.5), "table ties, column papers: not"),
        (("S1", "S2", 1.0, 2**70), "table ties, column papers: not"),
        ((1, "S2", 1.0, 1), "table ties, column source: not"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_by_table_and_column(row, message):
    with pytest.raises(InputError, match=message):
        build_table("ties", [row])


def test_files_hold_the_same_bytes_for_the_same_rows(tmp_path):
    write_tables(tmp_path / "a", {"ties": TIES})
    write_tables(tmp_path / "b", {"ties": TIES[::-1]})
    for name in TABLES:
        one = (tmp_path / "a" / "tables" / f"{name}.parquet").read_bytes()
        assert one == (tmp_path / "b" / "tables" / f"{name}.parquet").read_bytes()
    left = [path.name for path in (tmp_path / "a" / "tables").iterdir()]
    assert sorted(left) == sorted(f"{name}.parquet" for name in TABLES)


def test_lone_surrogates_are_made_writable(tmp_path):
    rows = {
        "papers": [("p", "p", "bad \ud800 title", "fine ü 漢", 1.0, None, "", False, None, None)]
    }
    tables = write_tables(tmp_path, rows)
    assert tables["papers"]["title"].to_pylist() == ["bad \ufffd title"]
    assert tables["papers"]["abstract"].to_pylist() == ["fine ü 漢"]


def test_nan_in_files_of_others_is_a_missing_value():
    read = pa.table({"source": ["S1"], "target": ["S2"], "date": [nan], "papers": [nan]})
    assert cast_table("ties", read).equals(build_table("ties", [("S1", "S2", None, None)]))


def test_the_digest_is_what_it_was():
    assert digest_tables({"ties": build_table("ties", TIES)}) == (
        "c6e61d1043491a449c0d0f23f6cbc01dc4fc0a865f967c6a70fe89defcd96306"
    )


def test_the_digest_sees_every_change():
    start = digest_tables({"ties": build_table("ties", TIES)})
    changes = [
        [*TIES[:2], ("S2", "S3", 50.0, 0)],
        [*TIES[:2], ("S2", "S3", 50.000000000000007, None)],
        [*TIES[:2], ("S2", "s3", 50.0, None)],
        TIES[:2],
        [*TIES, TIES[0]],
    ]
    digests = {digest_tables({"ties": build_table("ties", rows)}) for rows in changes}
    assert len(digests | {start}) == len(changes) + 1
    assert digest_tables({"edges": build_table("ties", TIES)}) != start


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(max_size=5),
            st.none() | st.text(max_size=5),
            st.none() | st.floats(allow_nan=False, allow_infinity=False),
            st.none() | st.integers(-(2**62), 2**62),
        ),
        max_size=8,
    ),
    st.randoms(),
)
def test_any_rows_have_one_digest(rows, rng):
    shuffled = rows.copy()
    rng.shuffle(shuffled)
    assert digest_tables({"ties": build_table("ties", rows)}) == digest_tables(
        {"ties": build_table("ties", shuffled)}
    )


def test_a_table_beyond_the_cap_is_refused(tmp_path, monkeypatch):
    write_tables(tmp_path, {"ties": TIES})
    monkeypatch.setattr(table_files, "MAX_TABLE_BYTES", 1)
    with pytest.raises(InputError, match="the file is damaged or was written by another program"):
        table_files.read_parquet(tmp_path / "tables" / "ties.parquet")
