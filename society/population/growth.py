"""Figures of the network that has grown since day 0, kept up to date pair by pair.

Counting them anew would look at the whole network at every step of Mesa. They are for watching a
society only: no rule reads them, so that nothing that happens depends on them (rule 16). The
measures of a run are counted from its tables (``metrics``), and a test compares the two.
"""

from __future__ import annotations

NAN = float("nan")


class GrowthFigures:
    """Degree, largest component and repeats of the joint papers since day 0.

    A joint paper of a pair is recorded in nearly constant time: components are merged by size, with
    halved paths (union-find; Tarjan 1975). Memory is two numbers per scientist with a tie.
    """

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._size: dict[int, int] = {}
        self._largest = 0
        self._pairs = 0
        self._joint_papers = 0
        self._repeats = 0

    def record(self, one: int, other: int, *, first: bool, repeat: bool) -> None:
        """Count one joint paper of a pair.

        Args:
            one: row of a scientist.
            other: row of another.
            first: the two have no earlier joint paper since day 0.
            repeat: the two have an earlier joint paper, before day 0 or since.
        """
        self._joint_papers += 1
        self._repeats += repeat
        self._pairs += first
        a, b = self._root(one), self._root(other)
        if a != b:
            small, large = sorted((a, b), key=self._size.__getitem__)
            self._parent[small] = large
            self._size[large] += self._size.pop(small)
            self._largest = max(self._largest, self._size[large])

    @property
    def mean_degree(self) -> float:
        """Co-authors since day 0, mean over scientists with any; NaN without a pair."""
        return 2 * self._pairs / len(self._parent) if self._parent else NAN

    @property
    def giant_component(self) -> float:
        """Share of the scientists with a co-author since day 0 in the largest component."""
        return self._largest / len(self._parent) if self._parent else NAN

    @property
    def repeat_rate(self) -> float:
        """Joint papers of pairs since day 0 that were not their first, 0..1; NaN without any."""
        return self._repeats / self._joint_papers if self._joint_papers else NAN

    def _root(self, row: int) -> int:
        parent = self._parent
        if row not in parent:
            parent[row], self._size[row] = row, 1
            return row
        while parent[row] != row:
            parent[row] = row = parent[parent[row]]
        return row
