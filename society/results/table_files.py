"""Files of tables in Parquet and CSV, written atomically; files that are read are not trusted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    make_folder,
    replacing,
    require_regular_file,
    write_atomically,
)
from virsci_society.agents.files.file_hashes import update_hashes
from virsci_society.agents.spelling import plain_text
from virsci_society.society.results.dataframes import build_tables, to_frame
from virsci_society.society.results.tables import TableRows
from virsci_society.society.results.text_provenance import CSV_METADATA, SPEAKER, csv_metadata

SIGNS = "=+\\-@＝＋－＠"
_FIRST = re.compile(rf"(?= *[{SIGNS}\t\r\n])")
_INNER = re.compile(rf'(?<=[;\t\r\n])([ "]*)(?=[{SIGNS}])')


def safe_cell(text: str) -> str:
    """The text with a quote before whatever could begin a formula, and no control characters.

    Where semicolons separate cells, as in many countries, one can begin in the middle of a text.
    """
    quoted = _INNER.sub(r"\1'", plain_text(text))
    return f"'{quoted}" if _FIRST.match(text) else quoted


MAX_TABLE_BYTES = 8 * 2**30
MAX_ROW_BYTES = 2**20
"""A table may have 64 MiB plus this much per row; a larger file is damaged or hostile."""


def write_tables(folder: Path | str, rows: TableRows, speaker: str = "") -> dict[str, pa.Table]:
    """Write every table, also an empty one, as ``tables/*.parquet`` and return what was written."""
    tables = build_tables(rows)
    for name, table in tables.items():
        write_parquet(Path(folder) / "tables" / f"{name}.parquet", table, speaker=speaker)
    return tables


def write_parquet(path: Path, table: pd.DataFrame | pa.Table, *, speaker: str = "") -> None:
    """Write one table as Parquet, atomically and without pandas' metadata."""
    make_folder(path.parent)
    if not isinstance(table, pa.Table):
        table = pa.Table.from_pandas(table, preserve_index=False)
    # Without pandas' metadata, whose library versions would change the bytes.
    metadata = {SPEAKER: speaker} if speaker else None
    with replacing(path) as temporary:
        pq.write_table(table.replace_schema_metadata(metadata), temporary, compression="zstd")


def count_rows(path: Path) -> int:
    """The number of rows of a Parquet file, from its head."""
    try:
        return int(pq.read_metadata(require_regular_file(path)).num_rows)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def read_parquet(path: Path) -> pd.DataFrame:
    """Read one Parquet file of a run folder; InputError if it is invalid or too large."""
    return to_frame(read_arrow(path))


def read_arrow(path: Path) -> pa.Table:
    """The same as Arrow has it."""
    require_regular_file(path)
    try:
        with pq.ParquetFile(path) as file:
            meta = file.metadata
            # Told by the head of the file, before anything is unpacked.
            size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
            if size > min(MAX_TABLE_BYTES, 64 * 2**20 + meta.num_rows * MAX_ROW_BYTES):
                raise InputError(
                    f"{path}: {size} bytes in {meta.num_rows} rows is more than a table of a run "
                    "can have; the file is damaged or was written by another program"
                )
            # Small tables are read faster than threads start.
            return file.read(use_threads=size > 2**20)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as Parquet: {error}") from error


def safe_texts(table: pd.DataFrame) -> pd.DataFrame:
    """A copy of a table with every text and heading as a ``safe_cell``."""
    safe = table.rename(columns=lambda name: safe_cell(str(name)))
    for index, dtype in enumerate(table.dtypes):
        if not (
            pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_datetime64_any_dtype(dtype)
        ):
            cells = [
                safe_cell(value) if isinstance(value, str) else value
                for value in table.iloc[:, index].tolist()
            ]
            safe.isetitem(index, np.array(cells, dtype=object))
    return safe


def write_csv(
    folder: Path | str,
    tables: Mapping[str, pd.DataFrame],
    speaker: str = "",
    *,
    float_format: str | None = None,
) -> None:
    """Write each table as CSV; text that a spreadsheet would run gets a quote (``safe_cell``)."""
    target = Path(folder)
    make_folder(target)
    for name, table in tables.items():
        with replacing(target / f"{name}.csv") as path:
            # Line ends are the same on every system, and so are the bytes.
            safe_texts(table).to_csv(
                path, index=False, lineterminator="\n", float_format=float_format
            )
    if speaker:
        content = csv_metadata(speaker, [f"{name}.csv" for name in tables])
        write_atomically(target / CSV_METADATA, content)


def write_metrics(
    folder: Path | str, metrics: Mapping[str, pd.DataFrame], speaker: str = ""
) -> None:
    """Write metrics, by name, as ``tables/metrics/*.parquet`` into a run folder."""
    written = []
    for name, table in metrics.items():
        if not name.isidentifier():
            raise InputError(f"a metric is called {name!r}: letters, digits and _ only")
        path = Path(folder) / "tables" / "metrics" / f"{name}.parquet"
        written.append(path)
        write_parquet(path, table, speaker=speaker)
    # Last: a file that a kill leaves without its new hash is noticed when it is read.
    update_hashes(Path(folder), written)
