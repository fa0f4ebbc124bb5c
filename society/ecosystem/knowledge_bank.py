"""KnowledgeBank: the author knowledge bank, searchable as of a date.

Every change of a profile is a new dated row; a version is a number of rows, so whoever holds
a version reads the same people however late it reads. Interests are what is searched;
affiliations do not matter. It holds no memories and decides nothing.

The first profiles stay in their columns, and one is made when it is asked for.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from agents.errors import ProtocolError
from agents.profile import Profile
from society.ecosystem.interests import EXACT_UP_TO, Added, First, Rows, Vectors, unit
from society.ecosystem.people import People
from society.literature.embedding import Embedding
from society.literature.ids import IdColumn, Ids

DECIMALS = 5
MEMO = 8192
"""First profiles that are kept once made."""


def interests_text(profile: Profile) -> str:
    """The text that stands for a scientist wherever it is embedded."""
    return ", ".join(profile.interests)


class KnowledgeBank:
    """Profiles with dates, embedded by their interests.

    Args:
        profiles: everybody's profile on day 0; one each.
        embedding: the embedding of the literature.
        vectors: a row per profile, of its interests; encoded from the profiles where not given.
        kept: file that keeps how many first profiles are sorted for searching.
    """

    def __init__(
        self,
        profiles: Sequence[Profile],
        embedding: Embedding,
        vectors: Vectors | None = None,
        kept: Path | None = None,
    ) -> None:
        self.embedding = embedding
        self._names = _names_of(profiles)
        self._profiles = profiles
        self._made = lru_cache(maxsize=MEMO)(self._make)
        if vectors is None:
            vectors = embedding.encode([interests_text(profile) for profile in profiles])
        if vectors.shape != (len(profiles), embedding.dim):
            shape = (len(profiles), embedding.dim)
            raise ProtocolError(f"interests need vectors of shape {shape}, not {vectors.shape}")
        self._first = First(vectors, kept)
        self._added = Added(embedding.dim)
        find = profiles.row_of if isinstance(profiles, People) else None
        self._ids = Ids(self._names, find)
        self._updating = threading.Lock()
        self._updates: list[Profile] = []
        self._dates: list[float] = []
        self._rows_of: dict[str, list[int]] = {}
        self._vector_of: list[int] = []
        self._ended: tuple[list[int], list[int]] = ([], [])

    @property
    def facts(self) -> dict[str, Any]:
        """How the first profiles are searched, and with what measured recall."""
        return self._first.facts

    def version(self) -> int:
        """Number of rows now."""
        return len(self._profiles) + len(self._dates)

    def visible(self, date: float) -> int:
        """The version that holds at a date: the number of rows dated strictly before it.

        The first profiles are there from the beginning, also on day 0 itself.
        """
        return len(self._profiles) + bisect_left(self._dates, date)

    def update(self, date: float, profile: Profile, vector: Vectors | None = None) -> None:
        """Append a row for a scientist, known or new; dates never decrease.

        Args:
            date: from the moment after which it holds.
            profile: of that scientist.
            vector: one row, of its interests; encoded from them where not given. That of
                interests that have not changed goes on holding.
        """
        with self._updating:
            last = self._dates[-1] if self._dates else (0.0 if len(self._profiles) else date)
            if not date >= last:
                raise ProtocolError(
                    f"profile of {profile.id} is dated {date}, before the last row's "
                    f"{last}; update in order of date"
                )
            before = self._row(profile.id, self.version())
            held = self._renewed(profile, before, vector)
            self._updates.append(profile)
            self._vector_of.append(held)
            self._rows_of.setdefault(profile.id, []).append(self.version())
            # Last, because it is what makes the row visible to other threads.
            self._dates.append(date)

    def profile(self, scientist_id: str, version: int) -> Profile:
        """A scientist's latest profile below a version."""
        return self._at(self._latest(scientist_id, version))

    def search(
        self, text: str, k: int, version: int, exclude: frozenset[str] = frozenset()
    ) -> tuple[Profile, ...]:
        """The ``k`` scientists whose interests are nearest to a text, by cosine.

        Cosines that are equal to 1e-5 are ordered by scientist id.
        """
        if k < 0 or not 0 <= version <= self.version():
            raise ProtocolError(f"k={k}, version={version} with {self.version()} rows")
        if k == 0:
            return ()
        query = unit(self.embedding.encode_queries([text]))[0]
        early, late = self._hidden(version, exclude)
        rows = self._near(query, k, min(version, len(self._first)), early)
        found = _ranked(self._first.rows(rows), query, (self._ids[row] for row in rows.tolist()))
        if version > len(self._first):
            numbers, vectors = self._added.near(query, k, version, late)
            found += _ranked(vectors, query, (self._added.owners[one] for one in numbers.tolist()))
        return tuple(self.profile(name, version) for _, name in sorted(found)[:k])

    def similarity(self, a_id: str, b_id: str, version: int) -> float:
        """Cosine of two scientists' interests below a version, rounded to 1e-5."""
        a, b = (self._vector(self._latest(one, version)) for one in (a_id, b_id))
        return round(float((a.astype(np.float64) * b.astype(np.float64)).sum()), DECIMALS)

    def _near(self, query: Vectors, k: int, visible: int, hidden: set[int]) -> Rows:
        if query.any() or visible <= EXACT_UP_TO:
            return self._first.near(query, k, visible, hidden)
        # Everybody is equally near to a text without a known word: the first by id.
        order = (row for row in _in_order(self._names) if row < visible)
        chosen = islice((row for row in order if row not in hidden), k)
        return np.fromiter(chosen, np.int64)

    def _hidden(self, version: int, exclude: frozenset[str]) -> tuple[set[int], set[int]]:
        """First rows, and numbers of added ones, that a search of a version passes over."""
        first = len(self._first)
        rows, since = self._ended
        early, late = set(rows[: bisect_left(since, version)]), set[int]()
        for name in exclude:
            row = self._ids.row_of(name)
            if row is not None:
                early.add(row)
            held = (self._vector_of[row - first] for row in tuple(self._rows_of.get(name, ())))
            # Interests that have not changed are still those of a first row.
            late.update(vector - first for vector in held if vector >= first)
        return early, late

    def _renewed(self, profile: Profile, before: int | None, vector: Vectors | None) -> int:
        """The vector of a new row: the one that its scientist has, or a new one."""
        first, row = len(self._first), self.version()
        if before is not None:
            held = before if before < first else self._vector_of[before - first]
            if self._at(before).interests == profile.interests:
                return held
            if held >= first:
                self._added.end(held - first, row)
            else:
                self._ended[0].append(held)
                self._ended[1].append(row)
        if vector is None:
            vector = self.embedding.encode([interests_text(profile)])
        return first + self._added.append(profile.id, row, unit(vector)[0])

    def _latest(self, scientist_id: str, version: int) -> int:
        row = self._row(scientist_id, version)
        if row is None:
            raise ProtocolError(f"no profile of {scientist_id!r} below version {version}")
        return row

    def _row(self, scientist_id: str, version: int) -> int | None:
        rows = self._rows_of.get(scientist_id, [])
        place = bisect_left(rows, version)
        if place:
            return rows[place - 1]
        row = self._ids.row_of(scientist_id)
        return row if row is not None and row < version else None

    def _at(self, row: int) -> Profile:
        first = len(self._profiles)
        return self._made(row) if row < first else self._updates[row - first]

    def _make(self, row: int) -> Profile:
        return self._profiles[row]

    def _vector(self, row: int) -> Vectors:
        first = len(self._first)
        held = row if row < first else self._vector_of[row - first]
        return (
            self._first.rows(np.array([held]))[0] if held < first else self._added.row(held - first)
        )


def _ranked(rows: Vectors, query: Vectors, names: Iterable[str]) -> list[tuple[float, str]]:
    """Scientists with their cosines turned round, so that the nearest is the least."""
    exact = (rows.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    return list(zip((-np.round(exact, DECIMALS)).tolist(), names, strict=True))


def _names_of(profiles: Sequence[Profile]) -> Sequence[str]:
    """Ids of the first profiles: a column where there are many in one, else a list."""
    names: Sequence[str]
    if isinstance(profiles, People) and len(profiles) > EXACT_UP_TO:
        names = IdColumn(profiles.table["id"])
        twice = names.repeated()
    else:
        names = [profile.id for profile in profiles]
        twice = next((name for name, often in Counter(names).items() if often > 1), None)
    if twice is not None:
        raise ProtocolError(f"two first profiles have the id {twice!r}")
    return names


def _in_order(names: Sequence[str]) -> Iterable[int]:
    """Rows in the order of their ids."""
    if isinstance(names, IdColumn):
        return map(int, names.order)
    return sorted(range(len(names)), key=names.__getitem__)
