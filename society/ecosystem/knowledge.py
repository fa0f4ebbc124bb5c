"""KnowledgeBank: the author knowledge bank, searchable as of a date.

Every change of a profile is a new dated row; a version is a number of rows, so whoever holds
a version reads the same people however late it reads. Interests are what is searched;
affiliations do not matter. It holds no memories and decides nothing.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.errors import ProtocolError
from agents.profile import Profile
from society.literature.embedding import Embedding

DECIMALS = 5
NEVER = np.iinfo(np.int64).max
# More than the rounding of a float32 cosine, so that no better scientist is passed over.
SLACK = 1e-4


def interests_text(profile: Profile) -> str:
    """The text that stands for a scientist wherever it is embedded."""
    return ", ".join(profile.interests)


class KnowledgeBank:
    """Profiles with dates, embedded by their interests.

    Args:
        profiles: everybody's profile on day 0; one each.
        embedding: the embedding of the literature.
    """

    def __init__(self, profiles: Sequence[Profile], embedding: Embedding) -> None:
        self.embedding = embedding
        self._lock = threading.Lock()
        self._first = len(profiles)
        self._profiles: list[Profile] = []
        self._dates: list[float] = []
        self._rows_of: dict[str, list[int]] = {}
        room = max(16, len(profiles))
        self._vectors = np.zeros((room, embedding.dim), dtype=np.float32)
        self._until = np.full(room, NEVER, dtype=np.int64)
        rows = _unit(embedding.encode([interests_text(profile) for profile in profiles]))
        for profile, row in zip(profiles, rows, strict=True):
            if profile.id in self._rows_of:
                raise ProtocolError(f"two first profiles have the id {profile.id!r}")
            self._append(0.0, profile, row)

    def version(self) -> int:
        """Number of rows now."""
        return len(self._dates)

    def visible(self, date: float) -> int:
        """The version that holds at a date: the number of rows dated strictly before it.

        The first profiles are there from the beginning, also on day 0 itself.
        """
        return max(bisect_left(self._dates, date), self._first)

    def update(self, date: float, profile: Profile) -> None:
        """Append a row for a scientist, known or new; dates never decrease."""
        row = _unit(self.embedding.encode([interests_text(profile)]))[0]
        with self._lock:
            if self._dates and not date >= self._dates[-1]:
                raise ProtocolError(
                    f"profile of {profile.id} is dated {date}, before the last row's "
                    f"{self._dates[-1]}; update in order of date"
                )
            self._append(date, profile, row)

    def profile(self, scientist_id: str, version: int) -> Profile:
        """A scientist's latest profile below a version."""
        return self._profiles[self._latest(scientist_id, version)]

    def search(
        self, text: str, k: int, version: int, exclude: frozenset[str] = frozenset()
    ) -> tuple[Profile, ...]:
        """The ``k`` scientists whose interests are nearest to a text, by cosine.

        Cosines that are equal to 1e-5 are ordered by scientist id.
        """
        if k < 0 or not 0 <= version <= self.version():
            raise ProtocolError(f"k={k}, version={version} with {self.version()} rows")
        vectors, until = self._arrays()
        query = _unit(self.embedding.encode([text]))[0]
        live = until[:version] >= version
        for scientist_id in exclude:
            live[[row for row in self._rows_of.get(scientist_id, ()) if row < version]] = False
        rows = np.flatnonzero(live)
        if k == 0 or not len(rows):
            return ()
        rows = _plausible(rows, (vectors[:version] @ query)[rows], k)
        exact = vectors[rows].astype(np.float64) * query.astype(np.float64)
        cosines = np.round(exact.sum(axis=1), DECIMALS).tolist()
        found = [self._profiles[row] for row in rows]
        ranked = sorted(zip(cosines, found, strict=True), key=lambda pair: (-pair[0], pair[1].id))
        return tuple(profile for _, profile in ranked[:k])

    def similarity(self, a_id: str, b_id: str, version: int) -> float:
        """Cosine of two scientists' interests below a version, rounded to 1e-5."""
        a, b = self._latest(a_id, version), self._latest(b_id, version)
        vectors, _ = self._arrays()
        product = vectors[a].astype(np.float64) * vectors[b].astype(np.float64)
        return round(float(product.sum()), DECIMALS)

    def _latest(self, scientist_id: str, version: int) -> int:
        rows = self._rows_of.get(scientist_id, [])
        place = bisect_left(rows, version)
        if not place:
            raise ProtocolError(f"no profile of {scientist_id!r} below version {version}")
        return rows[place - 1]

    def _arrays(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        # Together and under the lock: growth replaces both.
        with self._lock:
            return self._vectors, self._until

    def _append(self, date: float, profile: Profile, vector: npt.NDArray[np.float32]) -> None:
        row = len(self._dates)
        if row == len(self._until):
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
            self._until = np.concatenate([self._until, np.full(row, NEVER, dtype=np.int64)])
        self._vectors[row] = vector
        rows = self._rows_of.setdefault(profile.id, [])
        if rows:
            # Readers of a version up to this row find the older one live with either value.
            self._until[rows[-1]] = row
        self._profiles.append(profile)
        rows.append(row)
        self._dates.append(date)


def _plausible(
    rows: npt.NDArray[np.int64], scores: npt.NDArray[np.float32], k: int
) -> npt.NDArray[np.int64]:
    if len(rows) <= k:
        return rows
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    plausible: npt.NDArray[np.int64] = rows[scores >= least - SLACK]
    return plausible


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    lengths = np.sqrt(np.square(rows.astype(np.float64)).sum(axis=1, keepdims=True))
    unit: npt.NDArray[np.float32] = (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return unit
