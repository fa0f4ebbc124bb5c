"""A run as Python and a notebook show it, metrics by function, tables in numpy's types."""

import numpy as np
import pandas as pd
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.society.results.dataframes import with_numpy_dtypes
from virsci_society.society.results.run import Run
from virsci_society.society.results.table_files import write_tables


def made(**manifest):
    return Run.from_rows({}, {"name": "<b>mine</b>", "seed": 7, "days": 10.0, **manifest}, {})


def test_a_run_says_what_it_is():
    assert repr(made()) == (
        "<Run <b>mine</b>, seed 7: 0 scientists, 0 teams, 0 papers, 0 calls; finished>"
    )
    assert repr(made(partial="a budget")).endswith("; not finished: a budget>")


def test_nothing_but_the_heads_of_files_is_read_for_it(tmp_path):
    write_tables(tmp_path, {})
    (tmp_path / "manifest.json").write_text('{"name": "n", "seed": 1, "days": 1.0}')
    (tmp_path / "tables" / "teams.parquet").write_bytes(b"damaged")
    run = Run.open(tmp_path)
    assert "0 scientists, unreadable teams, 0 papers" in repr(run)
    assert not run._tables


def test_a_metric_may_be_a_function_which_is_called_once():
    called = []

    def count_teams(run):
        called.append(run)
        return pd.DataFrame({"teams": [len(run.table("teams"))]})

    run = made()
    assert run.metric(count_teams)["teams"].tolist() == [0]
    assert run.metric("count_teams") is run.metric(count_teams)
    assert called == [run]
    with pytest.raises(InputError, match=r"vs.compute_metric\(run, NAME\) computes others"):
        run.metric("degrees")


def test_plain_columns_hold_no_pandas_na():
    table = pd.DataFrame(
        {
            "real": pd.array([1.5, None], dtype="Float64"),
            "whole": pd.array([1, 2], dtype="Int64"),
            "gap": pd.array([1, None], dtype="Int64"),
            "yes": pd.array([True, False], dtype="boolean"),
            "perhaps": pd.array([True, None], dtype="boolean"),
            "text": pd.array(["a", None], dtype="string"),
        }
    )
    plain = with_numpy_dtypes(table)
    assert [str(kind) for kind in plain.dtypes] == [
        "float64", "int64", "float64", "bool", "float64", "object",
    ]  # fmt: skip
    assert np.isnan(plain["real"].to_numpy()[1])
    assert plain["perhaps"].tolist()[0] == 1.0
    assert plain["text"].tolist() == ["a", None]
    assert np.mean(plain["whole"].to_numpy()) == 1.5
    assert pd.isna(table["gap"]).sum() == 1
