"""Papers: many papers in columns; one is made when it is asked for.

Two million papers as Python objects take minutes and tens of gigabytes; as an Arrow table they
take what their text takes. Whoever counts or compares uses the columns, whoever reads a paper
asks for its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from society.literature.paper import Paper

if TYPE_CHECKING:
    import pyarrow as pa

Numbers = npt.NDArray[np.int64]
LISTS = ("authors", "references", "keywords")


class Papers(Sequence[Paper]):
    """A sequence of papers over an Arrow table with one column per field of ``Paper``.

    Args:
        table: the columns of ``schema()``, in any number of chunks.
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table.select(schema().names).combine_chunks()

    @classmethod
    def of(cls, papers: Iterable[Paper]) -> Papers:
        """The same papers in columns; ``Papers`` are taken as they are."""
        import pyarrow as pa

        if isinstance(papers, Papers):
            return papers
        rows = list(papers)
        columns = {
            field.name: pa.array([_plain(paper, field.name) for paper in rows], field.type)
            for field in schema()
        }
        return cls(pa.table(columns, schema=schema()))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @overload
    def __getitem__(self, row: int) -> Paper: ...

    @overload
    def __getitem__(self, row: slice) -> Papers: ...

    def __getitem__(self, row: int | slice) -> Paper | Papers:
        if isinstance(row, slice):
            start, stop, step = row.indices(len(self))
            if step != 1:
                return Papers(self.table.take(list(range(start, stop, step))))
            return Papers(self.table.slice(start, max(0, stop - start)))
        place = range(len(self))[row]
        return _paper({name: column[place].as_py() for name, column in self._columns})

    def __iter__(self) -> Iterator[Paper]:
        for batch in self.table.to_batches(max_chunksize=4096):
            yield from map(_paper, batch.to_pylist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Papers):
            return bool(self.table.equals(other.table))
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def dates(self) -> npt.NDArray[np.float64]:
        """Publication dates in days, one per paper."""
        return np.asarray(self.table["date"].to_numpy(), dtype=np.float64)

    @cached_property
    def years(self) -> Numbers:
        """Calendar years, one per paper."""
        return np.asarray(self.table["year"].to_numpy(), dtype=np.int64)

    @cached_property
    def team_sizes(self) -> Numbers:
        """Numbers of authors, one per paper."""
        import pyarrow.compute as pc

        return np.asarray(pc.list_value_length(self.table["authors"]).to_numpy(), dtype=np.int64)

    @cached_property
    def _columns(self) -> list[tuple[str, Any]]:
        # One chunk each, so that a row is found without a search through chunks.
        return [
            (name, self.table[name].chunk(0) if self.table[name].num_chunks else self.table[name])
            for name in self.table.column_names
        ]


def schema() -> pa.Schema:
    """The columns: large strings, so that two gigabytes of abstracts are one chunk."""
    import pyarrow as pa

    texts = pa.large_list(pa.large_string())
    return pa.schema(
        [
            ("id", pa.large_string()),
            ("title", pa.large_string()),
            ("abstract", pa.large_string()),
            ("date", pa.float64()),
            ("year", pa.int64()),
            ("authors", texts),
            ("references", texts),
            ("keywords", texts),
            ("venue", pa.large_string()),
            ("citations", pa.int64()),
        ]
    )


def _plain(paper: Paper, name: str) -> Any:
    value = getattr(paper, name)
    return list(value) if name in LISTS else value


def _paper(row: dict[str, Any]) -> Paper:
    return Paper(**row | {name: tuple(row[name]) for name in LISTS})
