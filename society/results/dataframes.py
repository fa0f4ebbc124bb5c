"""The tables of a run with declared types in canonical order, in Arrow and as data frames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from virsci_society.agents.errors import InputError
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

ARROW = {"string": pa.string(), "Int64": pa.int64(), "Float64": pa.float64(), "boolean": pa.bool_()}
NULLABLE = {arrow: pd.api.types.pandas_dtype(dtype) for dtype, arrow in ARROW.items()}
"""The nullable dtype of a type of Arrow, so that whole numbers with gaps stay whole."""
_SURROGATES = re.compile("[\ud800-\udfff]")


def to_frame(table: pa.Table) -> pd.DataFrame:
    """A table with pandas' nullable dtypes."""
    if not len(table) and NULLABLE.keys() >= set(table.schema.types):
        # Converted, an empty column of texts would have no chunk, and pandas could not merge it.
        build: Any = pd.array
        return pd.DataFrame({one.name: build([], NULLABLE[one.type]) for one in table.schema})
    # A small table is converted before threads have started.
    threads = table.nbytes > 2**20
    frame: pd.DataFrame = table.to_pandas(types_mapper=NULLABLE.get, use_threads=threads)
    return frame


def build_table(name: str, rows: Iterable[tuple[Any, ...]] = ()) -> pa.Table:
    """Build one table of ``TABLES``, in canonical order, with its declared columns and types."""
    columns = TABLES.get(name)
    if columns is None:
        raise InputError(f"no table is called {name!r}; the tables are {', '.join(TABLES)}")
    listed = list(rows)
    for row in listed:
        if len(row) != len(columns):
            raise InputError(
                f"table {name}: a row has {len(row)} values, expected {len(columns)}: {row!r:.200}"
            )
    values = zip(*listed, strict=True) if listed else [()] * len(columns)
    filled = zip(columns, values, strict=True)
    arrays = {column.name: _array(name, column, of) for column, of in filled}
    return sort_canonically(name, pa.table(arrays))


def cast_table(name: str, table: pa.Table) -> pa.Table:
    """Give a table that was read the types that ``TABLES`` declares, in canonical order."""
    if lacking := [column.name for column in TABLES[name] if column.name not in table.column_names]:
        raise InputError(
            f"table {name}: has no column {', '.join(lacking)}; run it again with this release"
        )
    arrays = {}
    for column in TABLES[name]:
        values = table[column.name]
        if values.type != ARROW[column.dtype]:
            values = _array(name, column, values.to_pylist())
        elif column.dtype == "Float64":
            values = pc.if_else(pc.is_nan(values), None, values)
        arrays[column.name] = values
    return sort_canonically(name, pa.table(arrays))


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


def sort_canonically(name: str, table: pa.Table) -> pa.Table:
    """Sort so that neither bytes nor digest depend on the order in which rows were written."""
    lead = [column for column in SORT_COLUMNS.get(name, ()) if column in table.column_names]
    by = lead + [column for column in table.column_names if column not in lead]
    if len(table) > 1 and by:
        order = pc.sort_indices(table, [(column, "ascending") for column in by]).to_numpy()
        # Rows that are in order already are not copied.
        if not (order == np.arange(len(table))).all():
            return table.take(order)
    return table


def _array(table: str, column: Column, values: Iterable[Any]) -> pa.Array:
    # Only NaN differs from itself: missing values look the same in all files.
    plain: list[Any] = [
        None if value is None or value is pd.NA or value != value else value for value in values
    ]
    try:
        if column.dtype == "string":
            plain = [_text(value) for value in plain]
        if column.dtype == "boolean":
            plain = [{0: False, 1: True}.get(value, value) for value in plain]
        # Numbers are cast: typed at once, Arrow would cut off what follows the point.
        number = column.dtype in ("Int64", "Float64")
        return pa.array(plain, None if number else ARROW[column.dtype]).cast(ARROW[column.dtype])
    except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        where = f"table {table}, column {column.name}"
        raise InputError(f"{where}: not {column.dtype}: {error}") from error


def _text(value: Any) -> str | None:
    """Replace lone surrogates, which models write and UTF-8 cannot encode, by U+FFFD."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.80} is {type(value).__name__}")
    return value if value.isascii() else _SURROGATES.sub("\ufffd", value)


def build_tables(rows: TableRows) -> dict[str, pa.Table]:
    """Build all tables of a run; those without rows are empty but have columns and types."""
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
