"""A set of ids in eight bytes each, by which duplicate records are recognised.

Ids are stored as 64-bit BLAKE2 hashes: two different ids among n share one with a probability of
n^2 / 2^65, that is 3 in 10,000 for a whole dump of 10^8 records; such a record would be skipped as
a duplicate.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

RECENT = 2**16
"""Hashes that are kept in a plain set before they are sorted."""


class IdSet:
    """A growing set of ids.

    The latest 65,536 hashes are a plain set. Older ones are sorted arrays whose lengths double, so
    there are few of them: 8 bytes an id, and at most 8 MB for the latest.
    """

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._sorted: list[npt.NDArray[np.uint64]] = []

    def add(self, id: str) -> bool:
        """Add an id; True if it is new."""
        key = int.from_bytes(blake2b(id.encode("utf-8"), digest_size=8).digest(), "big")
        if key in self._recent or (self._sorted and self._is_old(key)):
            return False
        self._recent.add(key)
        if len(self._recent) >= RECENT:
            self._settle()
        return True

    def _is_old(self, key: int) -> bool:
        import numpy as np

        wanted = np.uint64(key)
        for run in self._sorted:
            at = run.searchsorted(wanted)
            if at < len(run) and run[at] == wanted:
                return True
        return False

    def _settle(self) -> None:
        import numpy as np

        run = np.sort(np.fromiter(self._recent, dtype=np.uint64, count=len(self._recent)))
        self._recent = set()
        while self._sorted and len(self._sorted[-1]) <= len(run):
            run = np.sort(np.concatenate((self._sorted.pop(), run)), kind="stable")
        self._sorted.append(run)
