"""The tables of a run as typed pandas data frames in canonical order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from virsci_society.agents.errors import InputError
from virsci_society.agents.lazy_imports import pa, pc
from virsci_society.society.results.tables import TABLES, Column, TableRows

SORT_COLUMNS: dict[str, tuple[str, ...]] = {
    "scientists": ("scientist",),
    "teams": ("founded", "team"),
    "members": ("joined", "team", "scientist"),
    "invitations": ("sent", "team", "invitee"),
    "consultations": ("date", "team", "asker", "guest"),
    "meetings": ("held", "team"),
    "homework": ("assigned", "team", "scientist"),
    "calls": ("asked", "call"),
    "reads": ("date", "answer"),
    "papers": ("published", "paper"),
    "authorships": ("paper", "position"),
    "citations": ("date", "citing", "cited"),
    "submissions": ("submitted", "team"),
    "referees": ("team", "submission", "round", "seat", "invited"),
    "interests": ("date", "scientist", "paper"),
    "interventions": ("date", "number"),
    "careers": ("date", "scientist"),
    "outcomes": ("ended", "team"),
    "ties": ("date", "source", "target"),
}
"""Leading sort columns of each table; the other columns break ties."""

_SURROGATES = re.compile("[\ud800-\udfff]")


def build_table(name: str, rows: Iterable[tuple[Any, ...]] = ()) -> pd.DataFrame:
    """Build one table of ``TABLES``, in canonical order, with its declared columns and dtypes."""
    columns = TABLES.get(name)
    if columns is None:
        raise InputError(f"no table is called {name!r}; the tables are {', '.join(TABLES)}")
    listed = list(rows)
    if not listed:
        # A copy, because the caller may change it.
        return _empty_table(name).copy()
    for row in listed:
        if len(row) != len(columns):
            raise InputError(
                f"table {name}: a row has {len(row)} values, expected {len(columns)}: {row!r:.200}"
            )
    return cast_table(
        name, {column.name: [row[i] for row in listed] for i, column in enumerate(columns)}
    )


@cache
def _empty_table(name: str) -> pd.DataFrame:
    """A table without a row; a small run has many."""
    return cast_table(name, {column.name: [] for column in TABLES[name]})


def cast_table(name: str, columns: Mapping[Any, Iterable[Any]]) -> pd.DataFrame:
    """Give columns of values the dtypes that ``TABLES`` declares, in canonical order."""
    if lacking := [column.name for column in TABLES[name] if column.name not in columns]:
        raise InputError(
            f"table {name}: has no column {', '.join(lacking)}; run it again with this release"
        )
    data = {column.name: _array(name, column, columns[column.name]) for column in TABLES[name]}
    return sort_canonically(name, pd.DataFrame(data, copy=False))


def with_numpy_dtypes(table: pd.DataFrame) -> pd.DataFrame:
    """A copy with numpy's dtypes: NaN for missing numbers, None for missing texts."""
    plain: dict[Any, Any] = {}
    for name, column in table.items():
        kind, missing = str(column.dtype), bool(column.isna().any())
        if kind == "Float64" or (missing and kind in ("Int64", "boolean")):
            plain[name] = column.to_numpy(dtype="float64", na_value=float("nan"))
        elif kind in ("Int64", "boolean"):
            plain[name] = column.to_numpy(dtype="int64" if kind == "Int64" else "bool")
        elif kind in ("string", "str", "object"):
            plain[name] = column.astype(object).where(column.notna(), None)
        else:
            plain[name] = column
    return pd.DataFrame(plain, index=table.index)


def sort_canonically(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Sort so that neither bytes nor digest depend on the order in which rows were written."""
    lead = [column for column in SORT_COLUMNS.get(name, ()) if column in table.columns]
    by = lead + [column for column in table.columns if column not in lead]
    if len(table) > 1 and by:
        # By Arrow: pandas makes a categorical of every column first, which takes ten times as long.
        rows = pa.Table.from_pandas(table, preserve_index=False)
        keys = [(column, "ascending") for column in by]
        order = pc.sort_indices(rows, keys).to_numpy()
        # Rows that are in order already are not copied.
        if not (order == np.arange(len(table))).all():
            table = table.take(order)
    return table.reset_index(drop=True)


def _array(table: str, column: Column, values: Iterable[Any]) -> Any:
    name, dtype, build = column.name, column.dtype, cast("Any", pd.array)
    if isinstance(values, pd.Series) and values.dtype == dtype:
        if dtype != "Float64":
            return values.array
        return build(values.to_numpy(np.float64, na_value=np.nan), dtype=dtype)
    # Only NaN differs from itself: missing values look the same in all files.
    plain = [
        None if value is None or value is pd.NA or value != value else value for value in values
    ]
    try:
        if dtype == "string":
            plain = [_text(value) for value in plain]
        return build(plain, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"table {table}, column {name}: not {dtype}: {error}") from error


def _text(value: Any) -> str | None:
    """Replace lone surrogates, which models write and UTF-8 cannot encode, by U+FFFD."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.80} is {type(value).__name__}")
    return value if value.isascii() else _SURROGATES.sub("\ufffd", value)


def build_tables(rows: TableRows) -> dict[str, pd.DataFrame]:
    """Build all tables of a run; those without rows are empty but have columns and dtypes."""
    unknown = sorted(set(rows) - set(TABLES))
    if unknown:
        raise InputError(f"no such table: {', '.join(unknown)}; the tables are {', '.join(TABLES)}")
    return {name: build_table(name, rows.get(name, ())) for name in TABLES}


def typed_table(rows: Sequence[Sequence[Any]], dtypes: Mapping[str, str]) -> pd.DataFrame:
    """A table of rows, possibly none, with a value for each column, whose dtypes are nullable."""
    build: Any = pd.array
    columns = {
        name: build([row[index] for row in rows], dtype=dtype)
        for index, (name, dtype) in enumerate(dtypes.items())
    }
    return pd.DataFrame(columns)


def known_numbers(values: pd.Series[Any]) -> NDArray[np.float64]:
    """The values that are not missing, as float64."""
    return values.dropna().to_numpy(dtype=np.float64, na_value=np.nan)


def counts_of(keys: pd.Series[Any], counts: pd.Series[Any]) -> pd.Series[Any]:
    """The count of each key, zero where it has none."""
    return keys.map(counts).fillna(0).astype("Int64")
