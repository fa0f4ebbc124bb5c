"""Papers: many papers in columns, and who cites whom among them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from society.literature.columns import Columns
from society.literature.ids import IdColumn
from society.literature.paper import Paper

if TYPE_CHECKING:
    import pyarrow as pa

Numbers = npt.NDArray[np.int64]


class Papers(Columns[Paper]):
    """A sequence of papers over an Arrow table with one column per field of ``Paper``.

    Large strings, so that two gigabytes of abstracts may be one chunk.
    """

    kind = Paper

    @staticmethod
    def schema() -> pa.Schema:
        """The columns and their types; only ``citations`` may be null."""
        return schema()

    @cached_property
    def dates(self) -> npt.NDArray[np.float64]:
        """Publication dates in days, one per paper."""
        return np.asarray(self.table["date"].to_numpy(), dtype=np.float64)

    @cached_property
    def years(self) -> Numbers:
        """Calendar years, one per paper."""
        return np.asarray(self.table["year"].to_numpy(), dtype=np.int64)

    @cached_property
    def citations(self) -> npt.NDArray[np.float64]:
        """Citation counts at collection time, one per paper; nan where unknown."""
        return np.asarray(self.table["citations"].to_numpy(), dtype=np.float64)

    @cached_property
    def team_sizes(self) -> Numbers:
        """Numbers of authors, one per paper."""
        return self._lengths("authors")

    @cached_property
    def ids(self) -> IdColumn:
        """The papers' ids, searched where they lie."""
        return IdColumn(self.table["id"])

    def row_of(self, paper_id: str) -> int | None:
        """The row of a paper; None where there is no such id."""
        return self.ids.row_of(paper_id)

    def rows_of(self, paper_ids: Iterable[str] | pa.Array | pa.ChunkedArray) -> Numbers:
        """The rows of many papers at once, -1 where there is no such id."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not isinstance(paper_ids, pa.Array | pa.ChunkedArray):
            paper_ids = pa.array(list(paper_ids), pa.large_string())
        found = pc.fill_null(pc.index_in(paper_ids, value_set=_whole(self.table["id"])), -1)
        return np.asarray(found.to_numpy(), dtype=np.int64)

    def cites(self) -> tuple[Numbers, Numbers]:
        """References among these papers: where each row's begin (n + 1), and the rows cited.

        A paper is cited once by each paper and never by itself; rows cited stand in order.
        """
        return self._cites

    def cited_by(self, row: int) -> Numbers:
        """Rows of the papers that cite the paper of a row, in order of their rows."""
        starts, citing = self._cited_by
        found: Numbers = citing[starts[row] : starts[row + 1]]
        return found

    @cached_property
    def _cites(self) -> tuple[Numbers, Numbers]:
        import pyarrow.compute as pc

        count = len(self)
        cited = self.rows_of(pc.list_flatten(self.table["references"]))
        citing = np.repeat(np.arange(count, dtype=np.int64), self._lengths("references"))
        known = (cited >= 0) & (cited != citing)
        pairs = np.sort(citing[known] * count + cited[known])
        # A sort and a look at the neighbours: ten times as fast as finding unique numbers.
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        return _starts(pairs // max(1, count), count), pairs % max(1, count)

    @cached_property
    def _cited_by(self) -> tuple[Numbers, Numbers]:
        starts, cited = self._cites
        citing = np.repeat(np.arange(len(self), dtype=np.int64), np.diff(starts))
        order = np.argsort(cited, kind="stable")
        return _starts(cited[order], len(self)), citing[order]

    def _lengths(self, name: str) -> Numbers:
        import pyarrow.compute as pc

        return np.asarray(pc.list_value_length(self.table[name]).to_numpy(), dtype=np.int64)


def schema() -> pa.Schema:
    """The columns of papers."""
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


def _starts(rows: Numbers, count: int) -> Numbers:
    """Where each row begins among rows that stand in order."""
    return np.searchsorted(rows, np.arange(count + 1)).astype(np.int64)


def _whole(column: pa.ChunkedArray) -> Any:
    whole = column.combine_chunks()
    return whole.chunk(0) if getattr(whole, "num_chunks", 0) == 1 else whole
