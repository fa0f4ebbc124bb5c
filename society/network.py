"""CoauthorNetwork: who has written with whom, and when.

A sparse matrix of joint papers before day 0 that is never copied or changed, and dated ties on
top of it. It grows by ``record``, and by a row without ties for everybody who comes (``admit``);
everything is counted as of a date, strictly before it (rule 16). Nothing here takes time or
memory in proportion to the population, except where somebody asks for everybody (``graph``,
``base_ties``) and, once, when the first newcomer is admitted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from society.column import Column
from society.consulted import Consulted
from society.tally import Tally

if TYPE_CHECKING:
    import networkx

Rows = npt.NDArray[np.int64]


class CoauthorNetwork:
    """Joint papers of the population, rows numbered 0 to ``size`` - 1.

    The joint papers of a scientist stand in a line, by row of the co-author: ``known`` is its
    length, and ``partner`` who stands at a place in it. So a draw in proportion to joint papers
    is the draw of a place.

    Attributes:
        acquaintances: an event per person and distinct co-author.
        consulted: who has asked whom for advice.

    Args:
        base: symmetric sparse counts before day 0, zero diagonal (scipy CSR).
        now: reads the simulated date.
    """

    def __init__(self, base: Any, now: Callable[[], float]) -> None:
        base = base.tocsr()
        if not base.has_sorted_indices:
            base = base.sorted_indices()
        self.size: int = base.shape[0]
        self._now = now
        self._lines = Column(np.asarray(base.indptr, dtype=np.int64))
        self._starts = self._lines.held
        self._partners = np.asarray(base.indices, dtype=np.int32)
        # Running totals tell counts, sums and places alike, and make the counts superfluous.
        self._totals = np.zeros(len(self._partners) + 1, dtype=np.int64)
        np.cumsum(base.data, out=self._totals[1:])
        # One number out of an array is a Python int at once when it is read through a view.
        self._start = self._starts.data
        self._partner = self._partners.data
        self._total = self._totals.data
        self._grown: dict[int, tuple[list[float], list[int]]] = {}
        self._before = Column(np.diff(self._totals[self._starts]))
        self._after = Column(np.zeros(self.size, dtype=np.int32))
        self._known, self._since = self._before.held, self._after.held
        self._old, self._new = self._known.data, self._since.data
        self._latest = -np.inf
        self.acquaintances = Tally(lambda: self._starts, now)
        self.consulted = Consulted(now)

    def admit(self) -> None:
        """Somebody comes who has written with nobody: one row more."""
        # The line of a row begins where the one before it ends; this one is empty.
        self._starts = self._lines.append(int(self._starts[-1]))
        self._known, self._since = self._before.append(0), self._after.append(0)
        self._start, self._old, self._new = self._starts.data, self._known.data, self._since.data
        self.size += 1

    def record(self, authors: Sequence[int]) -> None:
        """A paper of these authors becomes visible now."""
        date = self._now()
        for i, j in combinations(authors, 2):
            if not self._have_met(i, j):
                self.acquaintances.add((i, j))
            for one, other in ((i, j), (j, i)):
                dates, others = self._grown.setdefault(one, ([], []))
                dates.append(date)
                others.append(other)
        self._since[list(authors)] += len(authors) - 1
        self._latest = date

    def _have_met(self, i: int, j: int) -> bool:
        """Is there a joint paper, today's included?"""
        end = self._start[i + 1]
        place = bisect_left(self._partner, j, self._start[i], end)
        known = place < end and self._partner[place] == j
        return known or (i in self._grown and j in self._grown[i][1])

    def row(self, i: int, before: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Co-authors of ``i`` and their numbers of joint papers before a date (now), by row."""
        start, end = self._start[i], self._start[i + 1]
        partners, counts = self._partners[start:end], np.diff(self._totals[start : end + 1])
        fresh = self._fresh(i, before)
        if not fresh:
            return partners, counts
        keys, places = np.unique(np.concatenate([partners, fresh]), return_inverse=True)
        joint = np.bincount(places[len(partners) :], minlength=len(keys))
        joint[places[: len(partners)]] += counts
        return keys, joint

    def known(self, i: int) -> int:
        """Joint papers of ``i`` with anybody before now, one for each co-author of a paper."""
        known: int = self._old[i]
        return known + len(self._fresh(i)) if self._new[i] else known

    def partner(self, i: int, place: int) -> int:
        """Who stands at a place, 0 to ``known(i)`` - 1, among the joint papers of ``i``."""
        start, end, total = self._start[i], self._start[i + 1], self._total
        if self._new[i]:
            for passed, other in enumerate(sorted(self._fresh(i))):
                at = total[bisect_left(self._partner, other, start, end)] - total[start]
                if place <= at + passed:
                    if place == at + passed:
                        return other
                    place -= passed
                    break
            else:
                place -= len(self._fresh(i))
        found: int = self._partner[
            bisect_right(total, total[start] + place, start + 1, end + 1) - 1
        ]
        return found

    def joint(self, i: int, j: int) -> int:
        """Joint papers of ``i`` and ``j`` before now."""
        end = self._start[i + 1]
        place = bisect_left(self._partner, j, self._start[i], end)
        known = place < end and self._partner[place] == j
        count: int = self._total[place + 1] - self._total[place] if known else 0
        return count + self._fresh(i).count(j) if self._new[i] else count

    def knowns(self, rows: Rows) -> Rows:
        """``known`` of many at once."""
        before: Rows = self._known[rows]
        if self._latest < self._now():
            since: Rows = self._since[rows]
            return before + since
        fresh = [len(self._fresh(row)) for row in rows.tolist()]
        return before + np.array(fresh, dtype=np.int64)

    def degrees(self) -> Rows:
        """Everybody's number of co-authors before now, by row."""
        found = np.diff(self._starts)
        for i in self._grown:
            found[i] = len(self.row(i)[0])
        return found

    def partners(self, rows: Rows, places: Rows) -> Rows:
        """Who stands at a place of each of many lines; here what is fresh stands at their ends."""
        first, last = self._starts[rows], self._starts[rows + 1]
        wanted = self._totals[first] + places
        fresh = wanted >= self._totals[last]
        found = np.empty(len(rows), dtype=np.int64)
        old = ~fresh
        found[old] = self._partners[_places(self._totals, wanted[old], first[old], last[old] - 1)]
        beyond = (wanted - self._totals[last])[fresh].tolist()
        fresh_rows = rows[fresh].tolist()
        found[fresh] = [
            self._grown[row][1][place] for row, place in zip(fresh_rows, beyond, strict=True)
        ]
        return found

    def joints(self, i: int, others: Sequence[int] | Rows) -> Rows:
        """``joint`` of ``i`` with many at once."""
        partners, counts = self.row(i)
        wanted = np.asarray(others, dtype=np.int64)
        if not len(partners):
            return np.zeros(len(wanted), dtype=np.int64)
        places = np.minimum(np.searchsorted(partners, wanted), len(partners) - 1)
        return np.where(partners[places] == wanted, counts[places], 0)

    def graph(self, among: Iterable[int] | None = None) -> networkx.Graph[int]:
        """A view as of now: joint papers are the ``weight`` of an edge.

        Args:
            among: the nodes; everybody where nothing is said, which takes half a minute and
                2 GB for a million people.
        """
        from networkx import Graph

        view: networkx.Graph[int] = Graph()
        view.add_nodes_from(range(self.size) if among is None else among)
        for i in view:
            partners, counts = self.row(i)
            ties = zip(partners.tolist(), counts.tolist(), strict=True)
            view.add_weighted_edges_from((i, j, n) for j, n in ties if i < j and j in view)
        return view

    def base_ties(self, of: Rows | None = None) -> Rows:
        """Every pair with joint papers before day 0, once, with their number.

        Args:
            of: only pairs with at least one of these people; everybody's where not given.

        Returns:
            One line (i, j, number), i < j, per pair, in order of i, then j.
        """
        rows = np.arange(self.size) if of is None else np.unique(of)
        chosen = np.zeros(self.size, dtype=bool)
        chosen[rows] = True
        lengths = self._starts[rows + 1] - self._starts[rows]
        skipped = np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) + np.repeat(self._starts[rows] - skipped, lengths)
        one, other = np.repeat(rows, lengths), self._partners[places].astype(np.int64)
        number = self._totals[places + 1] - self._totals[places]
        # A pair of two of them stands there twice, a pair with somebody else once.
        once = (one < other) | ~chosen[other]
        ends = np.minimum(one, other), np.maximum(one, other)
        lines = np.stack([*ends, number], axis=1)[once]
        found: Rows = lines[np.lexsort((lines[:, 1], lines[:, 0]))]
        return found

    def _fresh(self, i: int, before: float | None = None) -> list[int]:
        """The co-author of each joint paper of ``i`` since day 0 and before a date (now)."""
        dates, others = self._grown.get(i, ((), []))
        date = self._now() if before is None else before
        count = len(dates)
        if count and not dates[count - 1] < date:
            count = bisect_left(dates, date)
        # A copy: whoever reads on another thread must not see what is recorded meanwhile.
        return others[:count]


def _places(totals: Rows, wanted: Rows, low: Rows, high: Rows) -> Rows:
    """For each line from ``low`` to ``high``, the place whose joint papers hold the wanted one.

    A bisection of all lines at once: a search among the totals of everybody would touch memory
    far apart at every step.
    """
    unsure = np.flatnonzero(low < high)
    while len(unsure):
        first, last = low[unsure], high[unsure]
        middle = (first + last) // 2
        beyond = totals[middle + 1] <= wanted[unsure]
        low[unsure] = first = np.where(beyond, middle + 1, first)
        high[unsure] = last = np.where(beyond, last, middle)
        unsure = unsure[first < last]
    return low
