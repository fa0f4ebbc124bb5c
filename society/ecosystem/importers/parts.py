"""Parts: raw records as Parquet files, written whole or not at all, read back in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.errors import InputError
from society.ecosystem.records import RawAuthor, RawRecord

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 2000
"""Records that are in memory at a time."""


class PartWriter:
    """One part in the making; it appears under its name when it is finished.

    Args:
        path: the name of the finished part; until then it lies beside it as ``.tmp``.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self.path = path
        self.count = 0
        self._unfinished = path.with_suffix(".tmp")
        self._held: list[RawRecord] = []
        self._writer = pq.ParquetWriter(self._unfinished, _schema(), compression="zstd")

    def write(self, record: RawRecord) -> None:
        """Add a record."""
        self.count += 1
        self._held.append(record)
        if len(self._held) >= BATCH:
            self._flush()

    def finish(self) -> None:
        """Write what is held back and give the part its name."""
        self._flush()
        self._writer.close()
        with self._unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        self._unfinished.replace(self.path)

    def abandon(self) -> None:
        """Throw the part away."""
        self._writer.close()
        self._unfinished.unlink(missing_ok=True)

    def _flush(self) -> None:
        self._writer.write_table(_table(self._held))
        self._held.clear()


def read_part(path: Path) -> Iterator[RawRecord]:
    """The records of a part, a batch in memory at a time; InputError if it is damaged."""
    for rows in _rows(path, None):
        for row in rows:
            row["authors"] = tuple(RawAuthor(**author) for author in row["authors"])
            row["references"] = tuple(row["references"])
            row["keywords"] = tuple(row["keywords"])
            row["citations_by_year"] = tuple(
                (pair["year"], pair["count"]) for pair in row["citations_by_year"]
            )
            yield RawRecord(**row)


def read_part_ids(path: Path) -> Iterator[str]:
    """The ids of a part's records; InputError if it is damaged."""
    return (row["id"] for rows in _rows(path, ["id"]) for row in rows)


def _rows(path: Path, columns: list[str] | None) -> Iterator[list[dict[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH, columns=columns):
                yield batch.to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise InputError(
            f"{path}: cannot be read ({error}); delete the folder and import again"
        ) from error


def _table(records: Sequence[RawRecord]) -> pa.Table:
    import pyarrow as pa

    rows = [
        {
            "id": record.id,
            "title": record.title,
            "abstract": record.abstract,
            "year": record.year,
            "authors": [
                {"id": author.id, "name": author.name, "affiliation": author.affiliation}
                for author in record.authors
            ],
            "references": record.references,
            "keywords": record.keywords,
            "venue": record.venue,
            "citations": record.citations,
            "citations_by_year": [
                {"year": year, "count": count} for year, count in record.citations_by_year
            ],
        }
        for record in records
    ]
    return pa.Table.from_pylist(rows, schema=_schema())


def _schema() -> pa.Schema:
    import pyarrow as pa

    text, whole = pa.string(), pa.int32()
    author = pa.struct([("id", text), ("name", text), ("affiliation", text)])
    cited = pa.struct([("year", whole), ("count", whole)])
    return pa.schema(
        [
            ("id", text),
            ("title", text),
            ("abstract", text),
            ("year", whole),
            ("authors", pa.list_(author)),
            ("references", pa.list_(text)),
            ("keywords", pa.list_(text)),
            ("venue", text),
            ("citations", whole),
            ("citations_by_year", pa.list_(cited)),
        ]
    )
