"""The records of a source in columns, in one Parquet file that is written in one pass.

Years, authors, references and counts are held in arrays, on which papers and people are selected.
Words stay in the file until they are asked for by row, so those of a dropped paper are never held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.arrays import BoolArray, IntArray
from virsci_society.agents.files.atomic_files import replacing
from virsci_society.agents.lazy_imports import pa, pc, pq, sparse
from virsci_society.society.ecosystem.importers.records import RawRecord

UNKNOWN = -1
AT_ONCE = 2000
"""Records in memory as Python objects at a time."""


def _schema() -> pa.Schema:
    text, texts, numbers = pa.large_string(), pa.large_list(pa.large_string()), pa.list_(pa.int32())
    columns = {"id": text, "title": text, "abstract": text, "year": pa.int32()}
    columns |= {"author_ids": texts, "author_names": texts, "affiliations": texts}
    columns |= {"references": texts, "keywords": texts, "venue": text, "citations": pa.int32()}
    return pa.schema(columns | {"cited_years": numbers, "cited_counts": numbers})


def _columns(records: Iterable[RawRecord]) -> dict[str, Sequence[Any]]:
    rows = []
    for one in records:
        people = tuple(zip(*one.authors, strict=True)) or ((), (), ())
        cited = tuple(zip(*one.citations_by_year, strict=True)) or ((), ())
        words = (one.references, one.keywords, one.venue)
        rows.append(
            (one.id, one.title, one.abstract, one.year, *people, *words, one.citations, *cited)
        )
    return dict(zip(_schema().names, zip(*rows, strict=True), strict=True))


class RawCorpus:
    """One row per record, in the source's order; links and counts of known papers only.

    Known papers are those of years before the boundary. A count of -1 stands for unknown.

    Args:
        path: the Parquet file with all columns.
        boundary: the year in which the society starts.

    Attributes:
        abstracts, keywords: whether each paper has some.
        later_citations: of those collected, those of the boundary year and after, by the source's
            counts per year.
        first_counted: first year for which the known papers have such counts; None without.
        authors: numbers of ``author_ids``, in author order.
        links: (citing, cited) rows of known papers, each pair once, no paper itself.
        has_references: whether any known paper names a reference.
    """

    def __init__(self, path: Path, boundary: int) -> None:
        self.path, self.boundary = path, boundary
        with pq.ParquetFile(path) as file:

            def column(name: str) -> pa.Array:
                return file.read(columns=[name])[name].combine_chunks()

            abstracts = [np.zeros(0, dtype=bool)]
            for batch in file.iter_batches(AT_ONCE, columns=["abstract"]):
                abstracts.append(np.asarray(pc.binary_length(batch["abstract"])) > 0)
            self.abstracts: BoolArray = np.concatenate(abstracts)
            self.keywords: BoolArray = pc.list_value_length(column("keywords")).to_numpy() > 0
            self.ids = column("id")
            self.years: IntArray = column("year").to_numpy().astype(np.int64)
            people = column("author_ids")
            coded = people.flatten().dictionary_encode()
            self.authors = pa.LargeListArray.from_arrays(people.offsets, coded.indices)
            self.author_ids = coded.dictionary

            collected = column("citations").fill_null(UNKNOWN)
            self.collected_citations: IntArray = collected.to_numpy().astype(np.int64)
            cited_years = column("cited_years")
            rows = pc.list_parent_indices(cited_years).to_numpy()
            of_known = self.known[rows]
            counted = cited_years.flatten().to_numpy()
            self.first_counted = int(counted[of_known].min()) if of_known.any() else None
            later = of_known & (counted >= boundary)
            counts = column("cited_counts").flatten().to_numpy()
            later_citations = np.bincount(rows[later], counts[later], len(self))
            self.later_citations: IntArray = later_citations.astype(np.int64)

            references = column("references")
            citing = pc.list_parent_indices(references).to_numpy()
            cited = references.flatten().filter(pa.array(self.known[citing]))
            citing, early = citing[self.known[citing]], np.flatnonzero(self.known)
            found = pc.index_in(cited, value_set=self.ids.take(pa.array(early)))
            inside = found.is_valid().to_numpy(zero_copy_only=False)
            sources, targets = citing[inside], early[found.drop_null().to_numpy()]
            pairs = np.unique((sources * len(self) + targets)[sources != targets])
            self.links = pairs // max(1, len(self)), pairs % max(1, len(self))
            named = pc.not_equal(cited, self.ids.take(pa.array(citing)))
            self.has_references = bool(pc.any(named).as_py())

    @classmethod
    def read(
        cls,
        records: Iterable[RawRecord],
        boundary: int,
        path: Path,
        progress: Callable[[int], None] = lambda _: None,
    ) -> RawCorpus:
        """Read a source once, write its records into a file, and make the arrays."""
        done, left = 0, iter(records)
        with replacing(path) as new, pq.ParquetWriter(new, _schema(), compression="zstd") as writer:
            while some := list(islice(left, AT_ONCE)):
                writer.write_table(pa.table(_columns(some), schema=_schema()))
                done += len(some)
                progress(done)
        return cls(path, boundary)

    def __len__(self) -> int:
        return len(self.years)

    @cached_property
    def known(self) -> BoolArray:
        """Which papers are of years before the boundary."""
        return self.years < self.boundary

    @cached_property
    def people(self) -> sparse.csr_array:
        """Papers by authors, 1 where a known paper has an author; each row in author order."""
        sizes = pc.list_value_length(self.authors).to_numpy()
        seats = np.repeat(self.known, sizes)
        columns = self.authors.flatten().to_numpy()[seats].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(np.where(self.known, sizes, 0))])
        ones = np.ones(len(columns), dtype=np.int32)
        return sparse.csr_array((ones, columns, starts), shape=(len(self), len(self.author_ids)))

    @cached_property
    def citations_received(self) -> IntArray:
        """Citations by known papers that each paper received, by row."""
        return np.bincount(self.links[1], minlength=len(self)).astype(np.int64)

    def columns_of(self, ids: Iterable[str]) -> IntArray:
        """The numbers of authors by their source ids, ascending; unknown ids are ignored."""
        wanted = pc.is_in(self.author_ids, value_set=pa.array(list(ids), pa.large_string()))
        columns: IntArray = np.flatnonzero(wanted)
        return columns

    def by_date(self, rows: IntArray) -> IntArray:
        """Sort rows by year, then id."""
        table = pa.table({"year": self.years[rows], "id": self.ids.take(pa.array(rows))})
        order = pc.sort_indices(table, [("year", "ascending"), ("id", "ascending")])
        return np.asarray(rows[order], dtype=np.int64)

    def table(self, rows: BoolArray, *columns: str) -> pa.Table:
        """Columns of the file for some rows, in their order."""
        empty = pa.schema([_schema().field(name) for name in columns]).empty_table()
        return pa.concat_tables([empty, *self.batches(rows, *columns)])

    def batches(self, rows: BoolArray, *columns: str) -> Iterator[pa.Table]:
        """The same, some thousand rows at a time."""
        start = 0
        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(AT_ONCE, columns=list(columns)):
                chosen = rows[start : start + len(batch)]
                start += len(batch)
                if chosen.any():
                    yield pa.Table.from_batches([batch]).filter(pa.array(chosen))
