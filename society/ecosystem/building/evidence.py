"""The evidence of an ecosystem, a table of the papers on which its figures were counted.

People are counted on papers that the filters may have left out, so the papers of a folder alone do
not show whether a figure is one of the past. The evidence is one row per paper before the boundary
that is kept or by a scientist: its year, its scientists, its terms, the years in which it was
cited. It holds no names, and no words beside the terms.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import replacing
from virsci_society.agents.lazy_imports import pa, pq
from virsci_society.society.ecosystem.building.filters import PaperSelection
from virsci_society.society.ecosystem.building.outline import Outline
from virsci_society.society.ecosystem.building.profiles import AuthorPapers, year_id_order

EVIDENCE = "evidence.parquet"


def schema() -> pa.Schema:
    """The columns: ``scientists`` are rows of the population, ``cited`` are years, ascending."""
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


def make_evidence(
    outline: Outline, selection: PaperSelection, author_papers: AuthorPapers
) -> pa.Table:
    """Make the table of evidence, one row per paper, by year, then id; columns as in ``schema``."""
    rows = np.union1d(author_papers.rows, np.flatnonzero(selection.past))
    rows = rows[year_id_order(outline, rows)]
    place_of = dict(zip(author_papers.rows.tolist(), range(len(author_papers.rows)), strict=True))
    scientists: list[list[int]] = [[] for _ in author_papers.rows]
    for paper, one in zip(
        author_papers.papers.tolist(), author_papers.scientists.tolist(), strict=True
    ):
        scientists[paper].append(one)
    terms = [[author_papers.words[term] for term in paper] for paper in author_papers.terms]
    places = [place_of.get(row) for row in rows.tolist()]
    counts = selection.citations[rows]
    columns = {
        "id": outline.ids.take(pa.array(rows)).cast(pa.string()),
        "year": outline.years[rows],
        "kept": selection.past[rows],
        "scientists": [[] if place is None else scientists[place] for place in places],
        "terms": [[] if place is None else terms[place] for place in places],
        "citations": pa.array(counts, pa.int64(), mask=counts < 0),
        "cited": _citing_years(outline, rows),
    }
    return pa.table(columns, schema=schema())


def write_evidence(folder: Path, table: pa.Table) -> None:
    """Write the table into an ecosystem folder."""
    with replacing(folder / EVIDENCE) as path:
        pq.write_table(table, path, compression="zstd")


def read_evidence(folder: Path) -> pa.Table | None:
    """Read the table of an ecosystem folder; None where it has none, InputError if damaged."""
    path = folder / EVIDENCE
    if not path.is_file():
        return None
    try:
        return pq.read_table(path, columns=schema().names).cast(schema())
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise InputError(
            f"{path}: not a readable table ({error}); build the ecosystem again"
        ) from error


def _citing_years(outline: Outline, rows: IntArray) -> list[list[int]]:
    citing, cited = outline.links
    years = outline.years[citing]
    order = np.lexsort((years, cited))
    cited, years = cited[order], years[order]
    starts, ends = np.searchsorted(cited, rows), np.searchsorted(cited, rows, side="right")
    return [years[start:end].tolist() for start, end in zip(starts, ends, strict=True)]
