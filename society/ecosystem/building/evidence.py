"""Evidence: what figures at the boundary were counted on, kept beside an ecosystem.

People are counted on papers that the filters may have left out, so that the papers of a folder
alone do not tell whether a figure is one of the past. The evidence is one row per paper before
the boundary that is kept or by a scientist: its year, its scientists, its terms, the years in
which it was cited. It holds no name and no word beside the terms.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agents.errors import InputError
from society.ecosystem.careers import Careers, by_year_and_id
from society.ecosystem.filters import Selection
from society.ecosystem.outline import Numbers, Outline

if TYPE_CHECKING:
    import pyarrow as pa

EVIDENCE = "evidence.parquet"


def schema() -> pa.Schema:
    """The columns: ``scientists`` are rows of the population, ``cited`` years, ascending."""
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("year", pa.int64()),
            ("kept", pa.bool_()),
            ("scientists", pa.list_(pa.int64())),
            ("terms", pa.list_(pa.string())),
            ("citations", pa.int64()),
            ("cited", pa.list_(pa.int64())),
        ]
    )


def evidence_of(outline: Outline, selection: Selection, careers: Careers) -> pa.Table:
    """One row per paper, by year, then id."""
    import pyarrow as pa

    rows = np.union1d(careers.rows, np.flatnonzero(selection.past))
    rows = rows[by_year_and_id(outline, rows)]
    place_of = dict(zip(careers.rows.tolist(), range(len(careers.rows)), strict=True))
    scientists: list[list[int]] = [[] for _ in careers.rows]
    for paper, one in zip(careers.papers.tolist(), careers.scientists.tolist(), strict=True):
        scientists[paper].append(one)
    places = [place_of.get(row) for row in rows.tolist()]
    counts = selection.citations[rows]
    columns = {
        "id": outline.ids.take(pa.array(rows)).cast(pa.string()),
        "year": outline.years[rows],
        "kept": selection.past[rows],
        "scientists": [[] if place is None else scientists[place] for place in places],
        "terms": [
            [] if place is None else [careers.words[term] for term in careers.terms[place]]
            for place in places
        ],
        "citations": pa.array(counts, pa.int64(), mask=counts < 0),
        "cited": _citing_years(outline, rows),
    }
    arrays = [pa.array(columns[one.name], one.type) for one in schema()]
    return pa.table(arrays, schema=schema())


def write_evidence(folder: Path, table: pa.Table) -> None:
    """Write it into an ecosystem folder."""
    import pyarrow.parquet as pq

    pq.write_table(table, folder / EVIDENCE, compression="zstd")


def read_evidence(folder: Path) -> pa.Table | None:
    """Read it; None where the folder has none.

    Raises:
        InputError: it cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / EVIDENCE
    if not path.is_file():
        return None
    try:
        return pq.read_table(path, columns=schema().names).cast(schema())
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise InputError(
            f"{path}: not a readable table ({error}); build the ecosystem again"
        ) from error


def _citing_years(outline: Outline, rows: Numbers) -> list[list[int]]:
    citing, cited = outline.links
    years = outline.years[citing]
    order = np.lexsort((years, cited))
    cited, years = cited[order], years[order]
    starts, ends = np.searchsorted(cited, rows), np.searchsorted(cited, rows, side="right")
    return [years[start:end].tolist() for start, end in zip(starts, ends, strict=True)]
