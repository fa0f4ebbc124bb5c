"""The author knowledge bank of VirSci, profiles of scientists that are searched as of a date.

Every change of a profile is a new dated row, and a version is a number of rows: code that holds a
version reads the same people however late it reads (rules 14 and 16). Interests are searched;
affiliations do not matter. The initial profiles stay in their columns, and one is made when it is
asked for.

Source: Su et al. 2025 (VirSci).
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray, VectorArray
from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.lazy_imports import pa, pc
from virsci_society.agents.profile import Profile
from virsci_society.society.literature.columns import ArrowSequence
from virsci_society.society.literature.embedding.base import Embedding

if TYPE_CHECKING:
    from virsci_society.society.literature.ivf import IVFIndex


EXACT_UP_TO = 20_000
"""Initial profiles up to which the search is exhaustive; more are put into an inverted file."""
NEVER = np.iinfo(np.int64).max
"""Version at which a row that still holds ends."""
# More than the rounding of a float32 cosine, so that no better scientist is left out.
SLACK = 1e-4
EVEN = 1e-3
"""Tolerance within which a squared length counts as 1."""
BLOCK = 65_536
ROOM = 16
"""Rows for which there is space at first."""


class InitialInterests:
    """The interest vectors of the initial profiles, of any length; possibly memory-mapped."""

    def __init__(self, rows: VectorArray) -> None:
        # Unit rows are used in place: a mapped file of a million rows is not copied.
        self._as_given = len(rows) > EXACT_UP_TO and _is_normalized(rows)
        self._rows = rows if self._as_given else normalize_rows(rows)
        self._cells: IVFIndex | None = None
        if len(rows) > EXACT_UP_TO:
            from virsci_society.society.literature.ivf import load_or_build_index

            self._cells = load_or_build_index(self._rows, "cosine")

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def facts(self) -> dict[str, Any]:
        """How the rows are searched, and the measured recall (1.0 where the search is exact)."""
        if self._cells is None:
            return {"search": "exact", "recall": 1.0}
        return self._cells.facts

    def rows(self, wanted: IntArray) -> VectorArray:
        """The unit rows of these numbers, in this order."""
        rows = np.asarray(self._rows[wanted])
        return normalize_rows(rows) if self._as_given else rows

    def candidates(
        self, query: VectorArray, k: int, visible: int, hidden: Collection[int]
    ) -> IntArray:
        """Find rows, in any order and usually more than ``k``, among which are the ``k`` nearest.

        Only rows below the number ``visible`` count, without the hidden ones.
        """
        if self._cells is not None and visible > EXACT_UP_TO:
            gone = [row for row in hidden if row < visible]
            return self._cells.propose(query, k, visible, gone)
        live = np.ones(visible, dtype=bool)
        live[[row for row in hidden if row < visible]] = False
        return select_candidates(np.flatnonzero(live), self._rows[:visible] @ query, k)


class AddedInterests:
    """Interest vectors added since the start, each valid from one version to another.

    One thread adds while others search; a search copies nothing but the valid rows.
    """

    def __init__(self, dim: int) -> None:
        self._lock = threading.Lock()
        self._vectors = np.zeros((ROOM, dim), dtype=np.float32)
        self._until = np.full(ROOM, NEVER, dtype=np.int64)
        self._since: list[int] = []
        self.owners: list[str] = []

    def append(self, owner: str, since: int, vector: VectorArray) -> int:
        """Add a scientist's unit row, valid above a version; returns its number."""
        number = len(self._since)
        with self._lock:
            if number == len(self._until):
                self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
                never = np.full(number, NEVER, dtype=np.int64)
                self._until = np.concatenate([self._until, never])
            self._vectors[number] = vector
        self.owners.append(owner)
        self._since.append(since)
        return number

    def expire(self, number: int, version: int) -> None:
        """Let a row be valid up to a version and no longer."""
        # Without the lock: readers of a version up to this one find the row valid with either
        # value, and later versions are not visible yet.
        self._until[number] = version

    def row(self, number: int) -> VectorArray:
        """The unit row of a number."""
        vector: VectorArray = self._vectors[number]
        return vector

    def candidates(
        self, query: VectorArray, k: int, version: int, hidden: Collection[int]
    ) -> tuple[IntArray, VectorArray]:
        """Find rows, often more than ``k``, among which are the ``k`` nearest at a version."""
        count = bisect_left(self._since, version)
        with self._lock:
            # Under one lock, because ``append`` replaces both arrays when they grow.
            vectors, until = self._vectors[:count], self._until[:count]
        live = until >= version
        live[[number for number in hidden if number < count]] = False
        # Drifting interests leave many expired rows; computing only valid ones saves time.
        numbers = np.flatnonzero(live)
        rows = vectors[numbers]
        chosen = select_candidates(np.arange(len(numbers)), rows @ query, k)
        return numbers[chosen], rows[chosen]


def select_candidates(rows: IntArray, scores: VectorArray, k: int) -> IntArray:
    """Keep the rows that may be among the ``k`` best once their scores are computed exactly.

    ``scores`` are float32 numbers, indexed by row number.
    """
    if len(rows) <= k:
        return rows
    among = scores[rows]
    least = np.partition(among, len(among) - k)[len(among) - k]
    kept: IntArray = rows[among >= least - SLACK]
    return kept


def normalize_rows(rows: VectorArray) -> VectorArray:
    """Scale rows to unit length; zero rows stay zero."""
    normalized = np.empty(rows.shape, dtype=np.float32)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        lengths = np.sqrt(np.square(block.astype(np.float64)).sum(axis=1, keepdims=True))
        normalized[start : start + BLOCK] = block / np.where(lengths > 0, lengths, 1.0)
    return normalized


def _is_normalized(rows: VectorArray) -> bool:
    """Whether all rows have unit length already, or are zero."""
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK].astype(np.float64)
        squares = np.square(block).sum(axis=1)
        if (np.abs(squares[squares > 0] - 1.0) > EVEN).any():
            return False
    return True


DECIMALS = 5
MEMO = 8192
"""Initial profiles that stay in memory once made."""


def interests_text(profile: Profile) -> str:
    """The text by which a scientist is embedded: the interests, separated by commas."""
    return ", ".join(profile.interests)


class KnowledgeBank:
    """Dated profiles of scientists, embedded by their interests.

    Any thread may read while one updates.

    Args:
        profiles: everybody's profile on day 0; one each.
    """

    def __init__(
        self, profiles: Sequence[Profile], embedding: Embedding, vectors: VectorArray | None = None
    ) -> None:
        self.embedding = embedding
        self._profiles = People.of(profiles)
        self._made = lru_cache(maxsize=MEMO)(self._profiles.__getitem__)
        if (twice := self._profiles.ids.repeated()) is not None:
            raise ProtocolError(f"two first profiles have the id {twice!r}")
        if vectors is None:
            vectors = embedding.encode([interests_text(profile) for profile in profiles])
        if vectors.shape != (len(profiles), embedding.dim):
            shape = (len(profiles), embedding.dim)
            raise ProtocolError(f"interests need vectors of shape {shape}, not {vectors.shape}")
        self._initial = InitialInterests(vectors)
        self._added = AddedInterests(embedding.dim)
        self._updating = threading.Lock()
        self._updates: list[Profile] = []
        self._dates: list[float] = []
        self._rows_of: dict[str, list[int]] = {}
        self._vector_of: list[int] = []
        self._ended: tuple[list[int], list[int]] = ([], [])

    @property
    def facts(self) -> dict[str, Any]:
        """How the initial profiles are searched, and with what measured recall."""
        return self._initial.facts

    def version(self) -> int:
        """The present number of rows."""
        return len(self._profiles) + len(self._dates)

    def visible(self, date: float) -> int:
        """The version that holds at a date: the number of rows dated strictly before it.

        The initial profiles are there from the beginning, also on day 0 itself.
        """
        return len(self._profiles) + bisect_left(self._dates, date)

    def update(self, date: float, profile: Profile, vector: VectorArray | None = None) -> None:
        """Append a row for a scientist, known or new.

        Args:
            date: in days; the row holds after this moment. Dates never decrease.
        """
        with self._updating:
            last = self._dates[-1] if self._dates else date
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
            # Last: the number of dates is the version, so this makes the row visible to other
            # threads, which must find its profile and vector already (rule 14).
            self._dates.append(date)

    def profile(self, scientist_id: str, version: int) -> Profile:
        """A scientist's latest profile below a version."""
        return self._at(self._latest(scientist_id, version))

    def search(
        self, text: str, k: int, version: int, exclude: frozenset[str] = frozenset()
    ) -> tuple[Profile, ...]:
        """Find the scientists whose interests are nearest to a text, by cosine.

        Args:
            k: number of scientists wanted, at least 0.
        """
        if k < 0 or not 0 <= version <= self.version():
            raise ProtocolError(f"k={k}, version={version} with {self.version()} rows")
        if k == 0:
            return ()
        query = normalize_rows(self.embedding.encode_queries([text]))[0]
        early, late = self._hidden(version, exclude)
        rows = self._initial_candidates(query, k, min(version, len(self._initial)), early)
        ids = self._profiles.ids
        ranked = _ranked(self._initial.rows(rows), query, (ids[row] for row in rows.tolist()))
        if version > len(self._initial):
            numbers, vectors = self._added.candidates(query, k, version, late)
            ranked += _ranked(vectors, query, (self._added.owners[one] for one in numbers.tolist()))
        return tuple(self.profile(name, version) for _, name in sorted(ranked)[:k])

    def similarity(self, a_id: str, b_id: str, version: int) -> float:
        """Cosine of two scientists' interests below a version, rounded to 1e-5."""
        a, b = (self._vector(self._latest_or_first(one, version)) for one in (a_id, b_id))
        return round(float((a.astype(np.float64) * b.astype(np.float64)).sum()), DECIMALS)

    def _initial_candidates(
        self, query: VectorArray, k: int, visible: int, hidden: set[int]
    ) -> IntArray:
        if query.any() or visible <= EXACT_UP_TO:
            return self._initial.candidates(query, k, visible, hidden)
        # A zero query is equally near to everybody: take the first by id (rule 14).
        order = map(int, self._profiles.ids.order)
        chosen = islice((row for row in order if row < visible and row not in hidden), k)
        return np.fromiter(chosen, np.int64)

    def _hidden(self, version: int, exclude: frozenset[str]) -> tuple[set[int], set[int]]:
        """Initial rows, and numbers of added ones, that a search of a version leaves out."""
        first = len(self._initial)
        rows, since = self._ended
        early, late = set(rows[: bisect_left(since, version)]), set[int]()
        for name in exclude:
            row = self._profiles.row_of(name)
            if row is not None:
                early.add(row)
            held = (self._vector_of[row - first] for row in tuple(self._rows_of.get(name, ())))
            # Unchanged interests still have the vector of an initial row, which is hidden above.
            late.update(vector - first for vector in held if vector >= first)
        return early, late

    def _renewed(self, profile: Profile, before: int | None, vector: VectorArray | None) -> int:
        """The number of the vector of a new row, which is the old one for unchanged interests."""
        first, row = len(self._initial), self.version()
        if before is not None:
            held = before if before < first else self._vector_of[before - first]
            if self._at(before).interests == profile.interests:
                return held
            if held >= first:
                self._added.expire(held - first, row)
            else:
                self._ended[0].append(held)
                self._ended[1].append(row)
        if vector is None:
            vector = self.embedding.encode([interests_text(profile)])
        return first + self._added.append(profile.id, row, normalize_rows(vector)[0])

    def _latest(self, scientist_id: str, version: int) -> int:
        row = self._row(scientist_id, version)
        if row is None:
            raise ProtocolError(f"no profile of {scientist_id!r} below version {version}")
        return row

    def _latest_or_first(self, scientist_id: str, version: int) -> int:
        """The row below a version, or the first one of a newcomer who has come since."""
        # A newcomer who comes for a seat in a team is known to that team on the same day.
        later = self._rows_of.get(scientist_id)
        if later and self._row(scientist_id, version) is None:
            return later[0]
        return self._latest(scientist_id, version)

    def _row(self, scientist_id: str, version: int) -> int | None:
        rows = self._rows_of.get(scientist_id, [])
        place = bisect_left(rows, version)
        if place:
            return rows[place - 1]
        row = self._profiles.row_of(scientist_id)
        return row if row is not None and row < version else None

    def _at(self, row: int) -> Profile:
        first = len(self._profiles)
        return self._made(row) if row < first else self._updates[row - first]

    def _vector(self, row: int) -> VectorArray:
        first = len(self._initial)
        held = row if row < first else self._vector_of[row - first]
        if held >= first:
            return self._added.row(held - first)
        vector: VectorArray = self._initial.rows(np.array([held]))[0]
        return vector


def _ranked(rows: VectorArray, query: VectorArray, names: Iterable[str]) -> list[tuple[float, str]]:
    """Pairs of negative cosine and scientist id, so that sorting puts the nearest first."""
    exact = (rows.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    return list(zip((-np.round(exact, DECIMALS)).tolist(), names, strict=True))


MASK = "Scientist"
"""The word of a masked name, before its number."""


class People(ArrowSequence[Profile]):
    """A sequence of profiles over an Arrow table with one column per field of ``Profile``."""

    row_type = Profile

    @staticmethod
    def schema() -> pa.Schema:
        """The columns and their types; only ``citations`` may be null."""
        texts = pa.large_list(pa.large_string())
        return pa.schema(
            [
                ("id", pa.large_string()),
                ("affiliations", texts),
                ("interests", texts),
                ("papers", pa.int64()),
                ("citations", pa.int64()),
                ("collaborators", texts),
            ]
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Masked names, by row."""
        return tuple(self.table["id"].to_pylist())

    @property
    def rows(self) -> dict[str, int]:
        """Rows by masked name, made anew at every call."""
        return {name: row for row, name in enumerate(self.names)}

    @cached_property
    def papers(self) -> IntArray:
        """Numbers of papers before the boundary, by row."""
        return np.asarray(self.table["papers"].to_numpy(), dtype=np.int64)

    @cached_property
    def citations(self) -> FloatArray:
        """Citations before the boundary, by row; nan where the source knows none."""
        return np.asarray(self.table["citations"].to_numpy(), dtype=np.float64)

    @cached_property
    def topics(self) -> Sequence[str]:
        """Main topics, by row: the first interest, or an empty string."""
        return self._first_of("interests")

    @cached_property
    def workplaces(self) -> Sequence[str]:
        """The institution of each person, by row: the first affiliation, or an empty string."""
        return self._first_of("affiliations")

    def _first_of(self, name: str) -> Sequence[str]:
        """The first text of a column of lists, by row, or an empty string."""
        lists = self.table[name]
        lengths = pc.list_value_length(lists).to_numpy()
        starts = np.cumsum(lengths) - lengths
        places = pa.array(starts, mask=lengths == 0)
        first = pc.list_flatten(lists).take(places).combine_chunks()
        # The same few words stand for many: each is one string in memory.
        texts = pc.fill_null(first, "").dictionary_encode()
        words = texts.dictionary.to_pylist()
        return tuple(map(words.__getitem__, texts.indices.to_pylist()))

    @cached_property
    def institutions(self) -> tuple[str, ...]:
        """The first affiliations of all people, in alphabetical order, each once."""
        lists = self.table["affiliations"].combine_chunks()
        some = lists.filter(pc.greater(pc.list_value_length(lists), 0))
        return tuple(sorted(pc.unique(pc.list_element(some, 0)).to_pylist()))

    def row_of(self, name: str) -> int | None:
        """Look up the row of a masked name; None where nobody has it."""
        if not self._numbered:
            return self.ids.row_of(name)
        number = name.removeprefix(MASK)
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            return None
        row = int(number)
        return row if row < len(self) and name == f"{MASK}{row}" else None

    @cached_property
    def _numbered(self) -> bool:
        """Whether names are numbered by row, as in every ecosystem that is built."""
        return bool(self.table["id"].equals(pa.chunked_array([numbered_names(MASK, len(self))])))


def numbered_names(word: str, count: int) -> pa.Array:
    """Make names of a word and a number: ``Scientist0`` to ``Scientist{count - 1}``."""
    numbers = pa.array(np.arange(count)).cast(pa.large_string())
    empty = pa.scalar("", pa.large_string())
    return pc.binary_join_element_wise(pa.scalar(word, pa.large_string()), numbers, empty)
