"""Literature: what is published, as of a date.

Papers stand in order of date, so a date is a number of visible papers and a search that is
given that number finds the same papers however late it is computed. Citations are dated
events, counted before a date; there are no running totals. It neither writes nor judges.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from agents.errors import ProtocolError
from agents.reference import Reference
from society.literature.embedding import Embedding, Vectors, paper_text
from society.literature.index import VectorIndex
from society.literature.paper import Paper


class Literature:
    """Past papers and what the society adds to them, in order of publication date.

    Args:
        past: the papers that exist before the first day.
        vectors: one row per past paper, in the same order.
        embedding: turns new papers and queries into vectors of the same kind.
        boundary: the calendar year whose 1 January is date 0.
    """

    def __init__(
        self,
        past: Sequence[Paper],
        vectors: Vectors,
        embedding: Embedding,
        boundary: int,
    ) -> None:
        self.boundary = boundary
        self.embedding = embedding
        order = sorted(range(len(past)), key=lambda row: (past[row].date, past[row].id))
        self._papers = [past[row] for row in order]
        self._dates = [paper.date for paper in self._papers]
        self._row_of = {paper.id: row for row, paper in enumerate(self._papers)}
        self._index = VectorIndex(embedding.dim)
        self._index.add([paper.id for paper in self._papers], np.asarray(vectors)[order])
        self._cited: dict[str, list[float]] = {}
        self._publishing = threading.Lock()
        for paper in self._papers:
            self._note_citations(paper)

    def __contains__(self, paper_id: object) -> bool:
        return paper_id in self._row_of

    def __len__(self) -> int:
        return len(self._dates)

    @property
    def papers(self) -> Sequence[Paper]:
        """Every paper in order of date; do not change it."""
        return self._papers

    def paper(self, paper_id: str) -> Paper:
        """The paper of an id."""
        return self._papers[self._row(paper_id)]

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
            if paper.id in self._row_of:
                raise ProtocolError(f"paper {paper.id!r} is published already")
            if not (not self._dates or paper.date >= self._dates[-1]):
                raise ProtocolError(
                    f"paper {paper.id!r} is dated {paper.date}, before the last published "
                    f"date {self._dates[-1]}; publish in order of date"
                )
            if vector is None:
                vector = self.embedding.encode([paper_text(paper.title, paper.abstract)])
            self._index.add([paper.id], vector)
            self._papers.append(paper)
            self._row_of[paper.id] = len(self._papers) - 1
            self._note_citations(paper)
            # Last, because it is what makes the paper visible to other threads.
            self._dates.append(paper.date)

    def visible(self, date: float) -> int:
        """Number of papers published strictly before a date."""
        return bisect_left(self._dates, date)

    def search(
        self, text: str, k: int, visible: int, exclude: frozenset[str] = frozenset()
    ) -> tuple[Reference, ...]:
        """The ``k`` papers nearest to a text among the first ``visible``, nearest first.

        A pure function of its arguments, whatever is published meanwhile; any thread may call.
        """
        query = self.embedding.encode([text])[0]
        hits = self._index.search(query, k, visible, exclude)
        return tuple(_reference(self._papers[row], distance) for row, distance in hits)

    def citations(self, paper_id: str, before: float) -> int:
        """Citations that a paper received from known papers published before a date."""
        self._row(paper_id)
        return bisect_left(self._cited.get(paper_id, ()), before)

    def _row(self, paper_id: str) -> int:
        row = self._row_of.get(paper_id)
        if row is None:
            raise ProtocolError(f"paper {paper_id!r} is not in the literature")
        return row

    def _note_citations(self, paper: Paper) -> None:
        # Once per citing paper; sorted because papers arrive in order of date.
        for cited in dict.fromkeys(paper.references):
            if cited != paper.id and cited in self._row_of:
                self._cited.setdefault(cited, []).append(paper.date)


def _reference(paper: Paper, distance: float) -> Reference:
    return Reference(
        id=paper.id,
        title=paper.title,
        abstract=paper.abstract,
        year=paper.year,
        keywords=paper.keywords,
        distance=distance,
    )
