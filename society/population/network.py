"""The co-authorship network, with joint papers counted strictly before a date (rule 16)."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.lazy_imports import nx
from virsci_society.society.population.event_counts import DatedCounts


class CoauthorNetwork:
    """Numbers of joint papers between the scientists of a population, rows 0 to ``size`` - 1."""

    def __init__(self, base: Any, now: Callable[[], float]) -> None:
        base = base.tocsr()
        if not base.has_sorted_indices:
            base = base.sorted_indices()
        self.size: int = base.shape[0]
        self._now = now
        # The matrix in CSR form: the partners of row i are from _starts[i] to _starts[i + 1].
        # Newcomers have no row in it.
        self._starts = np.asarray(base.indptr, dtype=np.int64)
        self._people: int = base.shape[0]
        self._partners = np.asarray(base.indices, dtype=np.int32)
        # Cumulative sums give counts, strengths and indices alike, so no counts are kept.
        self._totals = np.zeros(len(self._partners) + 1, dtype=np.int64)
        np.cumsum(base.data, out=self._totals[1:])
        # A memoryview gives a Python int for one element, which is faster than the array does.
        self._start = self._starts.data
        self._partner = self._partners.data
        self._total = self._totals.data
        self._dated: dict[int, tuple[list[float], list[int]]] = {}
        self._tied: set[tuple[int, int]] = set()
        self.distinct_coauthors = DatedCounts(lambda: self._starts, now)
        self._authors: set[int] = set()
        self._links = self._repeats = 0

    def add_row(self) -> None:
        """Add the row of a newcomer, who has no joint papers."""
        self.size += 1

    def record_paper(self, authors: Sequence[int]) -> None:
        """Add one joint paper, dated now, to every pair of these authors (rows)."""
        date = self._now()
        self._authors.update(authors)
        for i, j in combinations(authors, 2):
            pair = (i, j) if i < j else (j, i)
            since = pair in self._tied
            self._tied.add(pair)
            start, end = self._row(i)
            position = bisect_left(self._partner, j, start, end)
            repeat = since or (position < end and self._partner[position] == j)
            if not repeat:
                self.distinct_coauthors.record((i, j))
            self._links += 1
            self._repeats += repeat
            for author, coauthor in ((i, j), (j, i)):
                dates, coauthors = self._dated.setdefault(author, ([], []))
                dates.append(date)
                coauthors.append(coauthor)

    # For watching only, today's papers included: no rule reads these (rule 16), and the measures of
    # a run are counted from its tables.
    @property
    def coauthors_per_author(self) -> float:
        """Co-authors since day 0, mean over authors since then; NaN without an author."""
        return 2 * len(self._tied) / len(self._authors) if self._authors else math.nan

    @property
    def giant_component_authors(self) -> float:
        """Share of authors since day 0 in the largest component; 0 without a pair."""
        from scipy.sparse import coo_array, csgraph

        if not self._tied:
            return 0.0 if self._authors else math.nan
        # Numbers in the order of rows, so that only authors are looked at.
        rows = np.sort(np.fromiter(self._authors, np.int64, len(self._authors)))
        ends = np.searchsorted(rows, np.array(list(self._tied), np.int64).T)
        ties = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(len(rows), len(rows)))
        _, labels = csgraph.connected_components(ties, directed=False)
        return float(np.bincount(labels).max() / len(rows))

    @property
    def repeat_rate(self) -> float:
        """Share of links since day 0 whose pair wrote together before; NaN without a link."""
        return self._repeats / self._links if self._links else math.nan

    def _row(self, i: int) -> tuple[int, int]:
        """Where the partners of ``i`` from before day 0 begin and end."""
        return (self._start[i], self._start[i + 1]) if i < self._people else (0, 0)

    def coauthors(self, i: int, before: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The co-authors of ``i`` before a date (None: now), and numbers of joint papers."""
        start, end = self._row(i)
        partners, counts = self._partners[start:end], np.diff(self._totals[start : end + 1])
        recent = self._recent_partners(i, before)
        if not recent:
            return partners, counts
        coauthors, indices = np.unique(np.concatenate([partners, recent]), return_inverse=True)
        joint = np.bincount(indices[len(partners) :], minlength=len(coauthors))
        # Partners are unique in each row of the matrix, so the indexed ``+=`` is correct.
        joint[indices[: len(partners)]] += counts
        return coauthors, joint

    def strength(self, i: int) -> int:
        """The joint papers of ``i`` before now, each counted once per co-author."""
        start, end = self._row(i)
        before_day_0: int = self._total[end] - self._total[start]
        return before_day_0 + len(self._recent_partners(i)) if i in self._dated else before_day_0

    def partner_at(self, i: int, index: int) -> int:
        """The co-author at an index, below ``strength(i)``, of the joint papers of ``i``."""
        (start, end), total = self._row(i), self._total
        if i in self._dated:
            # The recent joint papers are merged into the order by row without a copy of the list.
            for passed, coauthor in enumerate(sorted(self._recent_partners(i))):
                at = total[bisect_left(self._partner, coauthor, start, end)] - total[start]
                if index <= at + passed:
                    if index == at + passed:
                        return coauthor
                    index -= passed
                    break
            else:
                index -= len(self._recent_partners(i))
        return self._partner[bisect_right(total, total[start] + index, start + 1, end + 1) - 1]

    def joint_papers(self, i: int, j: int) -> int:
        """The number of joint papers of ``i`` and ``j`` before now."""
        start, end = self._row(i)
        position = bisect_left(self._partner, j, start, end)
        tied = position < end and self._partner[position] == j
        count: int = self._total[position + 1] - self._total[position] if tied else 0
        return count + self._recent_partners(i).count(j) if i in self._dated else count

    def degrees(self) -> IntArray:
        """Everybody's number of co-authors before now, an integer array of shape (size,)."""
        degrees = np.zeros(self.size, dtype=np.int64)
        degrees[: self._people] = np.diff(self._starts)
        for i in self._dated:
            degrees[i] = self.degree(i)
        return degrees

    def degree(self, i: int) -> int:
        """The number of co-authors of ``i`` before now."""
        return len(self.coauthors(i)[0])

    def joint_papers_with(self, i: int, others: Sequence[int] | IntArray) -> IntArray:
        """The numbers of joint papers of ``i`` with each of the others before now."""
        partners, counts = self.coauthors(i)
        wanted = np.asarray(others, dtype=np.int64)
        if not len(partners):
            return np.zeros(len(wanted), dtype=np.int64)
        places = np.minimum(np.searchsorted(partners, wanted), len(partners) - 1)
        return np.where(partners[places] == wanted, counts[places], 0)

    def graph(self, among: Iterable[int] | None = None) -> nx.Graph[int]:
        """Return the network as of now; the number of joint papers is an edge's ``weight``."""
        view: nx.Graph[int] = nx.Graph()
        view.add_nodes_from(range(self.size) if among is None else among)
        for i in view:
            partners, counts = self.coauthors(i)
            ties = zip(partners.tolist(), counts.tolist(), strict=True)
            # An edge to somebody outside would add a node while the nodes are iterated.
            view.add_weighted_edges_from((i, j, n) for j, n in ties if i < j and j in view)
        return view

    def ties_before_day_0(self, of: IntArray | None = None) -> IntArray:
        """Lines (i, j, number), i < j, of all pairs before day 0; ``of``: only with one of them."""
        rows = np.arange(self._people) if of is None else np.unique(of)
        rows = rows[rows < self._people]
        chosen = np.zeros(self.size, dtype=bool)
        chosen[rows] = True
        lengths = self._starts[rows + 1] - self._starts[rows]
        skipped = np.cumsum(lengths) - lengths
        positions = np.arange(int(lengths.sum())) + np.repeat(self._starts[rows] - skipped, lengths)
        first, other = np.repeat(rows, lengths), self._partners[positions].astype(np.int64)
        number = self._totals[positions + 1] - self._totals[positions]
        # The matrix is symmetric: a pair of two chosen rows appears twice, others once.
        once = (first < other) | ~chosen[other]
        ends = np.minimum(first, other), np.maximum(first, other)
        lines = np.stack([*ends, number], axis=1)[once]
        ordered: IntArray = lines[np.lexsort((lines[:, 1], lines[:, 0]))]
        return ordered

    def _recent_partners(self, i: int, before: float | None = None) -> list[int]:
        """The co-author of each joint paper of ``i`` since day 0 and before a date (None: now)."""
        dates, others = self._dated.get(i, ((), []))
        date = self._now() if before is None else before
        count = len(dates)
        # Joint papers of this very date are not counted yet (rule 16).
        if count and not dates[count - 1] < date:
            count = bisect_left(dates, date)
        # A copy, because the clock may record papers while another thread reads this list.
        return others[:count]
