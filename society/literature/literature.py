"""The literature, past and new papers in order of date, with search and citation counts.

A date is a number of visible papers: a late search finds the same ones (rules 14 and 16).
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from virsci_society.agents.arrays import FloatArray, VectorArray
from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.lazy_imports import pc
from virsci_society.agents.prompts.slots import Reference
from virsci_society.society.literature.columns import Ids
from virsci_society.society.literature.embedding.base import Embedding, paper_text
from virsci_society.society.literature.papers import Paper, Papers
from virsci_society.society.literature.vector_index import VectorIndex, exact_distances

DECIMALS = 9
"""Decimals to which scores are rounded: sums that differ only in their last bits are ties."""


def maximal_marginal_relevance(
    relevance: FloatArray, vectors: VectorArray, count: int, diversity: float
) -> list[int]:
    """Choose items by maximal marginal relevance.

    The next has the greatest (1 - diversity) * relevance(i) - diversity * max cosine(i, chosen).
    """
    rows = vectors.astype(np.float64)
    gain = (1.0 - diversity) * relevance
    likeness = np.zeros(len(rows))
    left = np.ones(len(rows), dtype=bool)
    chosen: list[int] = []
    while left.any() and len(chosen) < count:
        scores = np.where(left, np.round(gain - diversity * likeness, DECIMALS), -np.inf)
        # ``argmax`` takes the first of equal scores.
        best = int(np.argmax(scores))
        # Products are summed row by row, because the sums of a matrix product depend on its size.
        common = (rows * rows[best]).sum(axis=1)
        likeness = np.maximum(likeness, common) if chosen else common
        left[best] = False
        chosen.append(best)
    return chosen


NAMED_AUTHORS = 4
"""Most authors that a search result names."""
POOL_FACTOR = 5
"""Papers that each text of a diverse search proposes for each paper wanted."""
POOL = 20
"""Papers that each text of a diverse search proposes at least."""


class Literature:
    """Past papers and the society's own, searchable as of a date; one thread publishes."""

    def __init__(
        self, past: Sequence[Paper], vectors: VectorArray, embedding: Embedding, boundary: int
    ) -> None:
        self.boundary = boundary
        self.embedding = embedding
        self._past, rows = _in_order(Papers.of(past), vectors)
        self._past_dates = self._past.dates
        self._papers: list[Paper] = []
        self._dates: list[float] = []
        self._row_of: dict[str, int] = {}
        if (twice := self._past.ids.repeated()) is not None:
            raise ProtocolError(f"two past papers have the id {twice!r}; give each one once")
        # The index appends published papers to these ids.
        self._ids = Ids(self._past.ids, self._past.row_of)
        self._index = VectorIndex(embedding.dim, self._ids, rows)
        self._cited: dict[str, list[float]] = {}
        self._written_by: dict[str, list[int]] = {}
        self._publishing = threading.Lock()

    def __contains__(self, paper_id: object) -> bool:
        return paper_id in self._row_of or self._early(paper_id) is not None

    def __len__(self) -> int:
        return len(self._past) + len(self._dates)

    @property
    def papers(self) -> Iterator[Paper]:
        """Iterate over every paper in order of date."""
        return chain(self._past, self._papers)

    @property
    def published(self) -> Sequence[Paper]:
        """The society's own papers in order of date; do not change the list."""
        return self._papers

    @property
    def facts(self) -> dict[str, Any]:
        """How the past is searched (``exact`` or ``cells``), and with what measured recall."""
        return self._index.facts

    def paper(self, paper_id: str) -> Paper:
        """Look up a paper by its id."""
        return self._at(self._row(paper_id))

    def vector(self, paper_id: str) -> VectorArray:
        """Look up the vector of a paper by its id (dim numbers, unit length)."""
        self._row(paper_id)
        return self._index.vector(paper_id)

    def reference(self, paper_id: str, distance: float, known: Callable[[str], bool]) -> Reference:
        """Make the search result for a paper, with the first few authors who may be named."""
        row = self._row(paper_id)
        paper = self._at(row)
        named = [name for name in dict.fromkeys(paper.authors) if known(name)]
        return _reference(paper, row, distance, tuple(named[:NAMED_AUTHORS]))

    def publish(self, paper: Paper, vector: VectorArray | None = None) -> None:
        """Add a paper and make it visible to later dates."""
        with self._publishing:
            if paper.id in self:
                raise ProtocolError(f"paper {paper.id!r} is published already")
            last = (self._dates or self._past_dates[-1:].tolist() or [-np.inf])[-1]
            # ``not >=`` and not ``<``, because a date that is NaN has to be refused too.
            if len(self) and not paper.date >= last:
                raise ProtocolError(
                    f"paper {paper.id!r} is dated {paper.date}, before the last published "
                    f"date {last}; publish in order of date"
                )
            if vector is None:
                vector = self.embedding.encode([paper_text(paper.title, paper.abstract)])
            self._index.add([paper.id], vector)
            self._papers.append(paper)
            self._row_of[paper.id] = len(self._past) + len(self._papers) - 1
            # Once per citing paper; the list stays sorted because papers arrive in order of date.
            for cited in dict.fromkeys(paper.references):
                if cited != paper.id and cited in self:
                    self._cited.setdefault(cited, []).append(paper.date)
            for author in dict.fromkeys(paper.authors):
                self._written_by.setdefault(author, []).append(self._row_of[paper.id])
            # Last: ``visible`` counts dates, so this makes the paper visible to other threads,
            # which must find its vector and row already (rule 14).
            self._dates.append(paper.date)

    def visible(self, date: float) -> int:
        """Count the papers published strictly before a date, which names a moment for searches."""
        # Both searches stop before equal dates: strictly before (rule 14).
        early = int(np.searchsorted(self._past_dates, date))
        return early + bisect_left(self._dates, date)

    def search(
        self, text: str, k: int, visible: int, exclude: frozenset[str] = frozenset()
    ) -> tuple[Reference, ...]:
        """Find the ``k`` papers nearest to a text among those visible at a moment."""
        query = self.embedding.encode([text])[0]
        hits = self._index.search(query, k, visible, exclude)
        return tuple(_reference(self._at(row), row, distance) for row, distance in hits)

    def search_diverse(
        self,
        texts: Sequence[str],
        k: int,
        visible: int,
        *,
        diversity: float,
        exclude: frozenset[str] = frozenset(),
    ) -> tuple[Reference, ...]:
        """Find ``k`` papers near to one of several texts and unlike each other."""
        asked = list(dict.fromkeys(text for text in texts if text.strip()))
        if k == 0 or not asked:
            return ()
        points = self.embedding.encode(asked)
        # A text without a known word is equally near to all papers: its pool would be any.
        points = points[points.any(axis=1)] if points.any() else points[:1]
        pool = max(POOL, POOL_FACTOR * k)
        hits = [self._index.search(point, pool, visible, exclude) for point in points]
        rows = np.unique([row for results in hits for row, _ in results]).astype(np.int64)
        vectors = self._index.rows(rows)
        distances = np.array([exact_distances(vectors, point) for point in points])
        # For unit rows; computed from the distances, so that both give the same ranking (rule 14).
        cosines = 1.0 - np.square(distances) / 2.0
        # A row without a known word is at distance 1 from every text, and like none.
        cosines[:, ~vectors.any(axis=1)] = 0.0
        cosines[~points.any(axis=1)] = 0.0
        best = cosines.max(axis=1, initial=0.0, keepdims=True)
        relative = np.round(cosines / np.where(best > 0, best, 1.0), DECIMALS)
        # The greatest of each paper, and the place of the text that has it.
        relevance, text = relative.max(axis=0), relative.argmax(axis=0)
        ids = [self._ids[row] for row in rows.tolist()]
        order = sorted(
            range(len(rows)), key=lambda i: (-relevance[i], text[i], distances[text[i], i], ids[i])
        )
        chosen = maximal_marginal_relevance(relevance[order], vectors[order], k, diversity)
        picked = [order[index] for index in chosen]
        nearest = distances.min(axis=0)
        return tuple(
            _reference(self._at(int(rows[i])), int(rows[i]), float(nearest[i])) for i in picked
        )

    def search_author(self, author: str, text: str, k: int, visible: int) -> tuple[Reference, ...]:
        """Find the papers of one author (masked name) that are nearest to a text, as ``search``."""
        later = [row for row in self._written_by.get(author, ()) if row < visible]
        early = self._past.written_by(author)
        rows = np.concatenate([early[early < visible], np.array(later, dtype=np.int64)])
        if k == 0 or not len(rows):
            return ()
        point = self.embedding.encode([text])[0]
        distances = exact_distances(self._index.rows(rows), point).tolist()
        ids = (self._ids[row] for row in rows.tolist())
        ranked = sorted(zip(distances, ids, rows.tolist(), strict=True))
        return tuple(_reference(self._at(row), row, distance) for distance, _, row in ranked[:k])

    def citations(self, paper_id: str, before: float) -> int:
        """Count the citations of a paper by papers published strictly before a date."""
        row = self._row(paper_id)
        early = 0
        if row < len(self._past):
            # Rows are in order of date, and citing rows are ascending, so these dates are sorted.
            early = int(np.searchsorted(self._past_dates[self._past.cited_by(row)], before))
        return early + bisect_left(self._cited.get(paper_id, ()), before)

    def _early(self, paper_id: object) -> int | None:
        return self._past.row_of(paper_id) if isinstance(paper_id, str) else None

    def _row(self, paper_id: str) -> int:
        row = self._row_of.get(paper_id)
        row = self._early(paper_id) if row is None else row
        if row is None:
            raise ProtocolError(f"paper {paper_id!r} is not in the literature")
        return row

    def _at(self, row: int) -> Paper:
        early = len(self._past)
        return self._past.row(row) if row < early else self._papers[row - early]


def _in_order(papers: Papers, vectors: VectorArray) -> tuple[Papers, VectorArray]:
    """Sort papers by date, then id, together with their vectors."""
    # The id decides within a date: rows must not depend on the order of the source (rule 14).
    keys = [("date", "ascending"), ("id", "ascending")]
    order = np.asarray(pc.sort_indices(papers.table, sort_keys=keys), dtype=np.int64)
    # Memory-mapped vectors stay in their file if they are already in order.
    if (order == np.arange(len(papers))).all():
        return papers, vectors
    return Papers(papers.table.take(order)), np.asarray(vectors)[order]


def _reference(paper: Paper, row: int, distance: float, by: tuple[str, ...] = ()) -> Reference:
    return Reference(
        id=paper.id,
        title=paper.title,
        abstract=paper.abstract,
        year=paper.year,
        keywords=paper.keywords,
        distance=distance,
        key=f"P{row + 1}",
        authors=by,
    )
