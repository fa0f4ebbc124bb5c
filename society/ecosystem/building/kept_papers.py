"""The second pass over a source, which reads the words of the kept papers into columns.

Of other papers before the boundary only the keywords are noted, and those only where some paper has
none and takes its terms from its own text.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.lazy_imports import pa, pc
from virsci_society.society.ecosystem.building.filters import PaperSelection
from virsci_society.society.ecosystem.building.outline import PROGRESS_EVERY, Outline
from virsci_society.society.ecosystem.importers.records import RawRecord
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers

if TYPE_CHECKING:
    from pyarrow import Table  # by name, as in ``outline``

CHUNK = 4096
"""Papers that are held as Python objects at a time."""
TEXTS = ("id", "title", "abstract", "venue")
LISTS = ("references", "keywords")


@dataclass(eq=False)
class KeptPapers:
    """The kept papers by year, then id, with their authors as numbers.

    Attributes:
        table: the columns of ``Papers`` except authors, past papers first.
        past: number of past papers.
        rows: row of each paper in the outline.
        seats: authors of all papers in their order, as numbers into ``people``.
        team_sizes: number of authors of each paper.
        people: source id and last name of each person, by number.
        used_keywords: keywords of papers before the boundary in lower case; empty where every
            such paper has keywords.
    """

    table: Table
    past: int
    rows: IntArray
    seats: IntArray
    team_sizes: IntArray
    people: list[tuple[str, str]]
    used_keywords: frozenset[str] = field(default_factory=frozenset)

    def papers(self, names: Sequence[str]) -> tuple[Papers, Papers]:
        """The past and the contemporary papers, with authors by their masked names."""
        starts = np.concatenate([[0], np.cumsum(self.team_sizes)])
        authors_named = pa.array(names, pa.large_string()).take(pa.array(self.seats))
        authors = pa.LargeListArray.from_arrays(pa.array(starts, pa.int64()), authors_named)
        table = self.table.append_column("authors", authors).select(Papers.schema().names)
        papers = Papers(table.cast(Papers.schema()))
        return papers[: self.past], papers[self.past :]

    def people_in_order(self) -> list[int]:
        """The numbers of all people in the order in which the papers first name them."""
        people, first = np.unique(self.seats, return_index=True)
        order: list[int] = people[np.argsort(first)].tolist()
        return order


def read_kept_papers(
    records: Iterable[RawRecord],
    outline: Outline,
    selection: PaperSelection,
    progress: Callable[[int], None],
) -> KeptPapers:
    """Read the words of the papers that are kept."""
    draft = _KeptPapersBuilder(outline, selection)
    for row, record in reread_records(records, outline, progress):
        draft.add(row, record)
    return draft.finished()


def reread_records(
    records: Iterable[RawRecord], outline: Outline, progress: Callable[[int], None]
) -> Iterator[tuple[int, RawRecord]]:
    """Read a source once more, with the row of each record in its outline.

    InputError where the source is no longer what it was when the outline was made.
    """
    row = -1
    for row, record in enumerate(records):
        if row >= len(outline) or outline.years[row] != record.year:
            break
        if row % PROGRESS_EVERY == 0:
            progress(row)
        yield row, record
    else:
        if row + 1 == len(outline):
            return
    raise InputError(
        f"the source is not what it was when it was first read (record {row + 1} differs); "
        "build again from files that nobody writes to"
    )


class _KeptPapersBuilder:
    """Collects the words of kept papers record by record."""

    def __init__(self, outline: Outline, selection: PaperSelection) -> None:
        self._outline, self._citations = outline, selection.citations
        self._kept = selection.kept
        self._listens = not bool(outline.keywords[outline.known].all())
        self._columns: dict[str, list[Any]] = {name: [] for name in (*TEXTS, *LISTS)}
        self._chunks: list[pa.Table] = []
        self._rows, self._seats, self._sizes = array("q"), array("q"), array("q")
        self._numbers: dict[str, int] = {}
        self._names: list[tuple[int, str, str]] = []
        self._used: set[str] = set()

    def add(self, row: int, record: RawRecord) -> None:
        """Add a record if it is kept; of other past records note the keywords that are needed."""
        if self._listens and record.year < self._outline.boundary:
            self._used.update(keyword.lower() for keyword in record.keywords)
        if not self._kept[row]:
            return
        for name in TEXTS:
            self._columns[name].append(getattr(record, name))
        for name in LISTS:
            self._columns[name].append(list(getattr(record, name)))
        self._rows.append(row)
        self._sizes.append(len(record.authors))
        for author in record.authors:
            self._seats.append(self._number(record, author.id, author.name))
        if len(self._columns["id"]) == CHUNK:
            self._pack()

    def finished(self) -> KeptPapers:
        """All kept papers, by year, then id."""
        self._pack()
        rows = np.array(self._rows, dtype=np.int64)
        sizes = np.array(self._sizes, dtype=np.int64)
        years = self._outline.years[rows]
        table = pa.concat_tables(self._chunks).append_column("year", pa.array(years))
        order = pc.sort_indices(table, [("year", "ascending"), ("id", "ascending")])
        place = np.asarray(order, dtype=np.int64)
        return KeptPapers(
            table=self._with_dates_and_counts(table.take(order), rows[place]),
            past=int((years < self._outline.boundary).sum()),
            rows=rows[place],
            seats=_taken(np.array(self._seats, dtype=np.int64), sizes, place),
            team_sizes=sizes[place],
            people=self._people(),
            used_keywords=frozenset(self._used),
        )

    def _number(self, record: RawRecord, key: str, name: str) -> int:
        number = self._numbers.setdefault(key, len(self._names))
        dated_name = (record.year, record.id, name)
        if number == len(self._names):
            self._names.append(dated_name)
        # Names change; the key file has the one on the newest paper.
        elif dated_name[:2] > self._names[number][:2]:
            self._names[number] = dated_name
        return number

    def _people(self) -> list[tuple[str, str]]:
        return [(key, self._names[number][2]) for key, number in self._numbers.items()]

    def _with_dates_and_counts(self, table: pa.Table, rows: IntArray) -> pa.Table:
        years = np.asarray(table["year"], dtype=np.int64)
        dates = (years - self._outline.boundary) * DAYS_PER_YEAR
        counts = self._citations[rows]
        known = pa.array(counts, pa.int64(), mask=counts < 0)
        return table.append_column("date", pa.array(dates)).append_column("citations", known)

    def _pack(self) -> None:
        fields = [one for one in Papers.schema() if one.name in self._columns]
        self._chunks.append(pa.table(self._columns, schema=pa.schema(fields)))
        self._columns = {name: [] for name in self._columns}


def _taken(seats: IntArray, sizes: IntArray, order: IntArray) -> IntArray:
    """Reorder the seats with their papers."""
    # Seat by seat within each paper, whose authors keep their order.
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    sizes = sizes[order]
    ends = np.cumsum(sizes)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    taken: IntArray = seats[np.repeat(starts[order], sizes) + within]
    return taken
