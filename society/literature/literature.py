"""Literature: what is published, as of a date.

Papers stand in order of date, so a date is a number of visible papers and a search that is
given that number finds the same papers however late it is computed. Citations are dated
events, counted before a date; there are no running totals. The past stays in columns, and a
paper of it is made when it is asked for. It neither writes nor judges.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from agents.errors import ProtocolError
from agents.reference import Reference
from society.literature.embedding import Embedding, Vectors, paper_text
from society.literature.ids import Ids
from society.literature.index import VectorIndex
from society.literature.paper import Paper
from society.literature.papers import Papers

MEMO = 8192
"""So many papers of the past are kept once made; where there are no more, all are made first."""


class Literature:
    """Past papers and what the society adds to them, in order of publication date.

    Args:
        past: the papers that exist before the first day.
        vectors: one row per past paper, in the same order; may be a memory-mapped file.
        embedding: turns new papers and queries into vectors of the same kind.
        boundary: the calendar year whose 1 January is date 0.
        kept: file that keeps how a large past is sorted for searching; see ``VectorIndex``.
    """

    def __init__(
        self,
        past: Sequence[Paper],
        vectors: Vectors,
        embedding: Embedding,
        boundary: int,
        kept: Path | None = None,
    ) -> None:
        self.boundary = boundary
        self.embedding = embedding
        self._past, rows = _in_order(Papers.of(past), vectors)
        self._past_dates = self._past.dates
        few = len(self._past) <= MEMO
        self._made = list(self._past).__getitem__ if few else lru_cache(MEMO)(self._make)
        self._papers: list[Paper] = []
        self._dates: list[float] = []
        self._row_of: dict[str, int] = {}
        if (twice := self._past.ids.repeated()) is not None:
            raise ProtocolError(f"two past papers have the id {twice!r}; give each one once")
        ids = Ids(self._past.ids, self._past.row_of)
        self._index = VectorIndex(embedding.dim, ids, rows, kept)
        self._cited: dict[str, list[float]] = {}
        self._publishing = threading.Lock()

    def __contains__(self, paper_id: object) -> bool:
        return paper_id in self._row_of or self._early(paper_id) is not None

    def __len__(self) -> int:
        return len(self._past) + len(self._dates)

    @property
    def papers(self) -> Iterator[Paper]:
        """Every paper in order of date, one after another."""
        return chain(self._past, self._papers)

    @property
    def published(self) -> Sequence[Paper]:
        """What was added to the past, in order of date; do not change it."""
        return self._papers

    @property
    def facts(self) -> dict[str, Any]:
        """How the past is searched, and with what measured recall."""
        return self._index.facts

    def paper(self, paper_id: str) -> Paper:
        """The paper of an id."""
        return self._at(self._row(paper_id))

    def vector(self, paper_id: str) -> Vectors:
        """The vector of a paper."""
        self._row(paper_id)
        return self._index.vector(paper_id)

    def reference(self, paper_id: str, distance: float) -> Reference:
        """A paper as a search at that distance returned it."""
        return _reference(self.paper(paper_id), distance)

    def publish(self, paper: Paper, vector: Vectors | None = None) -> None:
        """Add a paper; its date may not lie before that of the last one.

        Args:
            paper: what is published.
            vector: its vector (1 x dim), where it is known already.
        """
        with self._publishing:
            if paper.id in self:
                raise ProtocolError(f"paper {paper.id!r} is published already")
            if len(self) and not paper.date >= self._last_date():
                raise ProtocolError(
                    f"paper {paper.id!r} is dated {paper.date}, before the last published "
                    f"date {self._last_date()}; publish in order of date"
                )
            if vector is None:
                vector = self.embedding.encode([paper_text(paper.title, paper.abstract)])
            self._index.add([paper.id], vector)
            self._papers.append(paper)
            self._row_of[paper.id] = len(self._past) + len(self._papers) - 1
            self._note_citations(paper)
            # Last, because it is what makes the paper visible to other threads.
            self._dates.append(paper.date)

    def visible(self, date: float) -> int:
        """Number of papers published strictly before a date."""
        early = int(np.searchsorted(self._past_dates, date))
        return early + bisect_left(self._dates, date)

    def search(
        self, text: str, k: int, visible: int, exclude: frozenset[str] = frozenset()
    ) -> tuple[Reference, ...]:
        """The ``k`` papers nearest to a text among the first ``visible``, nearest first.

        A pure function of its arguments, whatever is published meanwhile; any thread may call.
        """
        query = self.embedding.encode_queries([text])[0]
        hits = self._index.search(query, k, visible, exclude)
        return tuple(_reference(self._at(row), distance) for row, distance in hits)

    def citations(self, paper_id: str, before: float) -> int:
        """Citations that a paper received from known papers published before a date."""
        row = self._row(paper_id)
        early = 0
        if row < len(self._past):
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
        return self._made(row) if row < early else self._papers[row - early]

    def _make(self, row: int) -> Paper:
        return self._past[row]

    def _last_date(self) -> float:
        return self._dates[-1] if self._dates else float(self._past_dates[-1])

    def _note_citations(self, paper: Paper) -> None:
        # Once per citing paper; sorted because papers arrive in order of date.
        for cited in dict.fromkeys(paper.references):
            if cited != paper.id and cited in self:
                self._cited.setdefault(cited, []).append(paper.date)


def _in_order(papers: Papers, vectors: Vectors) -> tuple[Papers, Vectors]:
    """Papers by date, then id, with their rows; as they are where they stand so already."""
    import pyarrow.compute as pc

    keys = [("date", "ascending"), ("id", "ascending")]
    order = np.asarray(pc.sort_indices(papers.table, sort_keys=keys), dtype=np.int64)
    if (order == np.arange(len(papers))).all():
        return papers, vectors
    return Papers(papers.table.take(order)), np.asarray(vectors)[order]


def _reference(paper: Paper, distance: float) -> Reference:
    return Reference(
        id=paper.id,
        title=paper.title,
        abstract=paper.abstract,
        year=paper.year,
        keywords=paper.keywords,
        distance=distance,
    )
