"""Frames: rows of a run as typed pandas tables, as Parquet, as CSV, as one digest.

``society/tables.py`` says which columns there are; this file only carries them. Rows are put
in canonical order, so neither bytes nor digest depend on the order in which they were written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from agents.errors import InputError
from society.tables import TABLES, WAY_ACTS

Rows = Mapping[str, Sequence[tuple[Any, ...]]]

ORDER: dict[str, tuple[str, ...]] = {
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
    "ties": ("date", "source", "target"),
}
"""Leading sort columns of each table; the other columns break what is still equal."""

OCCASIONAL = ("interests", "interventions", "careers", "submissions", "referees")
"""Tables that a digest leaves out where they are empty: most runs have no use for them."""

OCCASIONAL_COLUMNS = {"scientists": ("arrived",), "homework": ("switching",)}
"""Columns that a digest leaves out where no row has a value."""

WAY_COLUMNS = ("rung", "verdict", "unruled", "model", "prompt_tokens", "completion_tokens", "live")
"""Rows and columns of ``calls`` that tell how words were come by."""

MAX_TABLE_BYTES = 8 * 2**30
MAX_ROW_BYTES = 2**20
"""A table may hold 64 MiB plus this much per row; more is a damaged or hostile file."""

_ARROW = {
    "string": pa.string(),
    "Int64": pa.int64(),
    "Float64": pa.float64(),
    "boolean": pa.bool_(),
}
_SURROGATES = re.compile("[\ud800-\udfff]")


def frame(name: str, rows: Iterable[tuple[Any, ...]] = ()) -> pd.DataFrame:
    """Build one table in canonical order, with its declared columns and dtypes.

    Args:
        name: a key of ``TABLES``.
        rows: one tuple per row, in the order of the columns; None or NaN is missing.

    Raises:
        InputError: no such table, a row of the wrong length, or a value of the wrong type.
    """
    columns = TABLES.get(name)
    if columns is None:
        raise InputError(f"no table is called {name!r}; the tables are {', '.join(TABLES)}")
    listed = list(rows)
    for row in listed:
        if len(row) != len(columns):
            raise InputError(
                f"table {name}: a row has {len(row)} values, expected {len(columns)}: {row!r:.200}"
            )
    data: dict[str, Any] = {}
    for place, column in enumerate(columns):
        values = [row[place] for row in listed]
        data[column.name] = _series(name, column.name, column.dtype, values)
    return in_order(name, pd.DataFrame(data))


def typed(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Give a table read from a file its declared columns and dtypes; absent ones are missing.

    Raises:
        InputError: a column cannot be read as its declared dtype.
    """
    data: dict[str, Any] = {}
    for column in TABLES[name]:
        if column.name in table.columns:
            values = table[column.name].tolist()
        else:
            values = [None] * len(table)
        data[column.name] = _series(name, column.name, column.dtype, values)
    return in_order(name, pd.DataFrame(data))


def in_order(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Sort by the table's leading columns, then by all others; missing values come last."""
    lead = [column for column in ORDER.get(name, ()) if column in table.columns]
    rest = [column for column in table.columns if column not in lead]
    if len(table) > 1:
        table = table.sort_values(by=lead + rest, kind="stable", na_position="last")
    return table.reset_index(drop=True)


def _series(table: str, column: str, dtype: str, values: list[Any]) -> pd.Series[Any]:
    plain = [
        None if value is None or value is pd.NA or value != value else value for value in values
    ]
    try:
        if dtype == "string":
            plain = [_text(value) for value in plain]
        build: Any = pd.array
        return pd.Series(build(plain, dtype=dtype), name=column)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"table {table}, column {column}: not {dtype}: {error}") from error


def _text(value: Any) -> str | None:
    """Text that UTF-8 can hold: a lone surrogate, as models write them, becomes U+FFFD."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.80} is {type(value).__name__}")
    return value if value.isascii() else _SURROGATES.sub("\ufffd", value)


def frames(rows: Rows) -> dict[str, pd.DataFrame]:
    """Build all tables of a run; those without rows are empty but typed.

    Raises:
        InputError: an unknown table name or a malformed row.
    """
    unknown = sorted(set(rows) - set(TABLES))
    if unknown:
        raise InputError(f"no such table: {', '.join(unknown)}; the tables are {', '.join(TABLES)}")
    return {name: frame(name, rows.get(name, ())) for name in TABLES}


def write_tables(folder: Path | str, rows: Rows) -> dict[str, pd.DataFrame]:
    """Write ``tables/*.parquet`` into a run folder and return what was written.

    Every table is written, also an empty one. Each file appears whole or not at all, and its
    bytes depend on the set of rows only (for one version of the Parquet library).

    Raises:
        InputError: an unknown table name or a malformed row; nothing is written then.
    """
    tables = frames(rows)
    for name, table in tables.items():
        schema = pa.schema([(column.name, _ARROW[column.dtype]) for column in TABLES[name]])
        write_parquet(Path(folder) / "tables" / f"{name}.parquet", table, schema)
    return tables


def write_parquet(path: Path, table: pd.DataFrame, schema: pa.Schema | None = None) -> None:
    """Write one table as Parquet, whole or not at all, without pandas' own metadata."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrow = pa.Table.from_pandas(table, schema=schema, preserve_index=False)
    unfinished = path.with_suffix(".unfinished")
    pq.write_table(arrow.replace_schema_metadata(None), unfinished, compression="zstd")
    os.replace(unfinished, path)


def read_parquet(path: Path) -> pd.DataFrame:
    """Read one Parquet file of a run folder, within bounds.

    Raises:
        InputError: not a regular file, not Parquet, or larger than a table may be.
    """
    if path.is_symlink() or not path.is_file():
        raise InputError(f"{path}: not a regular file; a run folder holds plain files only")
    try:
        meta = pq.read_metadata(path)
        size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
        if size > min(MAX_TABLE_BYTES, 64 * 2**20 + meta.num_rows * MAX_ROW_BYTES):
            raise InputError(
                f"{path}: {size} bytes in {meta.num_rows} rows is more than a table of a run "
                "can hold; the file is damaged or not ours"
            )
        table: pd.DataFrame = pq.read_table(path).to_pandas(types_mapper=_nullable)
        return table
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as Parquet: {error}") from error


def _nullable(kind: pa.DataType) -> Any:
    """Read numbers and texts as nullable dtypes, so that whole numbers stay whole."""
    for dtype, arrow in _ARROW.items():
        if kind == arrow:
            return pd.api.types.pandas_dtype(dtype)
    return None


def write_csv(folder: Path | str, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write each table as CSV; text cells that a spreadsheet would run get a leading quote."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        safe = table.copy()
        for column in safe.columns:
            if pd.api.types.is_string_dtype(safe[column].dtype):
                safe[column] = [_quoted(value) for value in safe[column].tolist()]
        safe.to_csv(target / f"{name}.csv", index=False, lineterminator="\n")


def _quoted(value: Any) -> Any:
    starts = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r")
    return "'" + value if starts else value


def essential(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """What a digest is taken of: the accepted words, and not the way to them (rule 5).

    Re-asks, tokens, the model's name for itself, how a reply was read and whether a model spoke
    at all are left out; so is the text by which a paper is found, which stands in ``calls``.
    """
    calls = tables["calls"]
    calls = calls[~calls["act"].isin(WAY_ACTS)].drop(columns=list(WAY_COLUMNS))
    held = {
        name: one.drop(columns=["live", "found_by"], errors="ignore")
        for name, one in tables.items()
        if name not in OCCASIONAL or len(one)
    }
    for name, columns in OCCASIONAL_COLUMNS.items():
        if name in held:
            unused = [one for one in columns if held[name][one].isna().all()]
            held[name] = held[name].drop(columns=unused)
    return {**held, "calls": calls}


def digest_tables(tables: Mapping[str, pd.DataFrame]) -> str:
    """Sha256 (hex) over the canonical content of tables: names, columns, values.

    Rows are compared as a set with counts: their order does not matter, their values do, down
    to the last bit of a float.
    """
    total = hashlib.sha256()
    for name in sorted(tables):
        table = in_order(name, tables[name])
        total.update(f"table {name} {len(table)}\n".encode())
        for column in table.columns:
            values = [_plain(value) for value in table[column].tolist()]
            line = json.dumps([column, values], ensure_ascii=True, separators=(",", ":"))
            total.update(line.encode() + b"\n")
    return total.hexdigest()


def _plain(value: Any) -> Any:
    if value is pd.NA or value is None or value != value:
        return None
    return value.item() if hasattr(value, "item") else value
