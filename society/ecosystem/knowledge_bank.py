"""The author knowledge bank of VirSci, profiles of scientists that are searched as of a date.

A version is a number of dated rows, so late readers find the same people (rules 14 and 16).
"""

from __future__ import annotations

import sys
import threading
from bisect import bisect_left
from collections.abc import Iterable, Sequence
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
from virsci_society.society.literature.vector_index import GrowingRows, candidates

if TYPE_CHECKING:
    from virsci_society.society.literature.ivf import IVFIndex


EXACT_UP_TO = 20_000
"""Initial profiles up to which the search is exhaustive; more are put into an inverted file."""
BLOCK = 65_536
"""Rows that are normalised at a time."""


def normalize_rows(rows: VectorArray) -> VectorArray:
    """Scale rows to unit length; zero rows stay zero."""
    normalized = np.empty(rows.shape, dtype=np.float32)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        lengths = np.sqrt(np.square(block.astype(np.float64)).sum(axis=1, keepdims=True))
        normalized[start : start + BLOCK] = block / np.where(lengths > 0, lengths, 1.0)
    return normalized


DECIMALS = 5


def interests_text(profile: Profile) -> str:
    """The text by which a scientist is embedded: the interests, separated by commas."""
    return ", ".join(profile.interests)


class KnowledgeBank:
    """Dated profiles of scientists, searched by interests; one thread updates, any may read."""

    def __init__(
        self, profiles: Sequence[Profile], embedding: Embedding, vectors: VectorArray | None = None
    ) -> None:
        self.embedding = embedding
        self._profiles = People.of(profiles)
        if (twice := self._profiles.ids.repeated()) is not None:
            raise ProtocolError(f"two first profiles have the id {twice!r}")
        if vectors is None:
            vectors = embedding.encode([interests_text(profile) for profile in profiles])
        if vectors.shape != (len(profiles), embedding.dim):
            shape = (len(profiles), embedding.dim)
            raise ProtocolError(f"interests need vectors of shape {shape}, not {vectors.shape}")
        self._cells: IVFIndex | None = None
        if len(vectors) > EXACT_UP_TO:
            from virsci_society.society.literature.ivf import load_or_build_index

            # Used in place: a mapped file of a million rows is not copied.
            self._initial, self._cells = vectors, load_or_build_index(vectors, "cosine")
        else:
            self._initial = normalize_rows(vectors)
        # Interests that differ from those before: vectors, owners, and the rows they came with.
        self._added = GrowingRows(np.zeros((0, embedding.dim), np.float32))
        self._owners: list[str] = []
        self._since: list[int] = []
        self._updating = threading.Lock()
        self._updates: list[Profile] = []
        self._dates: list[float] = []
        self._rows_of: dict[str, list[int]] = {}
        self._vector_of: list[int] = []
        self._ended: tuple[list[int], list[int]] = ([], [])

    @property
    def facts(self) -> dict[str, Any]:
        """How the initial profiles are searched, and with what measured recall."""
        return self._cells.facts if self._cells else {"search": "exact", "recall": 1.0}

    def version(self) -> int:
        """The present number of rows."""
        return len(self._profiles) + len(self._dates)

    def visible(self, date: float) -> int:
        """The version that holds at a date: the number of rows dated strictly before it."""
        return len(self._profiles) + bisect_left(self._dates, date)

    def update(self, date: float, profile: Profile, vector: VectorArray | None = None) -> None:
        """Append a row for a scientist, known or new, that holds after a date in days."""
        with self._updating:
            last = self._dates[-1] if self._dates else date
            if not date >= last:
                raise ProtocolError(
                    f"profile of {profile.id} is dated {date}, before the last row's "
                    f"{last}; update in order of date"
                )
            row, first = self.version(), len(self._profiles)
            before, held = self._row(profile.id, row), None
            if before is not None:
                held = before if before < first else self._vector_of[before - first]
                if self._at(before).interests != profile.interests:
                    self._ended[0].append(held)
                    self._ended[1].append(row)
                    held = None
            if held is None:
                if vector is None:
                    vector = self.embedding.encode([interests_text(profile)])
                self._added.append(normalize_rows(vector))
                self._owners.append(profile.id)
                self._since.append(row)
                held = len(self._initial) + len(self._added) - 1
            self._updates.append(profile)
            self._vector_of.append(held)
            self._rows_of.setdefault(profile.id, []).append(row)
            # Last: the number of dates is the version, so this makes the row visible to other
            # threads, which must find its profile and vector already (rule 14).
            self._dates.append(date)

    def profile(self, scientist_id: str, version: int) -> Profile:
        """A scientist's latest profile below a version, or the first of one who has come since."""
        return self._at(self._latest(scientist_id, version))

    def search(
        self, text: str, k: int, version: int, exclude: frozenset[str] = frozenset()
    ) -> tuple[Profile, ...]:
        """Find the ``k`` scientists whose interests are nearest to a text, by cosine."""
        if k < 0 or not 0 <= version <= self.version():
            raise ProtocolError(f"k={k}, version={version} with {self.version()} rows")
        if k == 0:
            return ()
        query = normalize_rows(self.embedding.encode([text]))[0]
        first, ids = len(self._initial), self._profiles.ids
        visible = min(version, first)
        # Numbers of the vectors that are left out: initial, then added.
        ended, since = self._ended
        hidden = set(ended[: bisect_left(since, version)])
        for name in exclude:
            if (row := self._profiles.row_of(name)) is not None:
                hidden.add(row)
            later = self._rows_of.get(name, ())
            hidden.update(self._vector_of[row - len(self._profiles)] for row in tuple(later))
        early = [row for row in hidden if row < visible]
        if self._cells is None or visible <= EXACT_UP_TO:
            scores = np.einsum("ij,j->i", self._initial[:visible], query)
            rows = candidates(scores, k, early)
        elif query.any():
            rows = self._cells.propose(query, k, visible, early)
        else:
            # A zero query is equally near to everybody: take the first by id (rule 14).
            order = map(int, ids.order)
            chosen = (row for row in order if row < visible and row not in hidden)
            rows = np.fromiter(islice(chosen, k), np.int64)
        ranked = _ranked(self._unit_rows(rows), query, (ids[row] for row in rows.tolist()))
        if late := bisect_left(self._since, version):
            scores = np.einsum("ij,j->i", self._added[:late], query)
            rows = candidates(scores, k, [row - first for row in hidden if row >= first])
            ranked += _ranked(self._added[rows], query, (self._owners[row] for row in rows))
        return tuple(self.profile(name, version) for _, name in sorted(ranked)[:k])

    def similarity(self, a_id: str, b_id: str, version: int) -> float:
        """Cosine of two scientists' interests below a version, rounded to 1e-5."""
        both, first = [], len(self._initial)
        for name in (a_id, b_id):
            row = self._latest(name, version)
            held = row if row < first else self._vector_of[row - first]
            one = slice(held, held + 1)
            vector = self._unit_rows(one)[0] if held < first else self._added[held - first]
            both.append(vector.astype(np.float64))
        return round(float((both[0] * both[1]).sum()), DECIMALS)

    def _latest(self, scientist_id: str, version: int) -> int:
        """The row below a version, or the first one of a newcomer who has come since."""
        row = self._row(scientist_id, version)
        # A newcomer who comes for a seat in a team is known to that team on the same day.
        later = self._rows_of.get(scientist_id)
        if row is None and later:
            return later[0]
        if row is None:
            raise ProtocolError(f"no profile of {scientist_id!r} below version {version}")
        return row

    def _row(self, scientist_id: str, version: int) -> int | None:
        rows = self._rows_of.get(scientist_id, [])
        position = bisect_left(rows, version)
        if position:
            return rows[position - 1]
        row = self._profiles.row_of(scientist_id)
        return row if row is not None and row < version else None

    def _at(self, row: int) -> Profile:
        first = len(self._profiles)
        return self._profiles.row(row) if row < first else self._updates[row - first]

    def _unit_rows(self, initial: IntArray | slice) -> VectorArray:
        """The interest vectors of some initial profiles at unit length."""
        rows = np.asarray(self._initial[initial])
        return rows if self._cells is None else normalize_rows(rows)


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
        first = pc.list_slice(self.table[name], 0, 1).to_pylist()
        # Few distinct texts: each is one string in memory.
        return tuple(sys.intern(texts[0]) if texts else "" for texts in first)

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


SHORT = 3
"""Most characters of a single word that counts as an abbreviation or a scrap."""
COMMON_SHARE = 0.01
"""Share of the scientists who state a word, at which it is common where no paper has keywords."""
LEAST = 3
"""Where fewer interests are left, the first that were left out are shown all the same."""


def general_terms(interests: pa.ChunkedArray, keywords: pa.ChunkedArray) -> frozenset[str]:
    """The interests, in lower case, that say nothing, such as "case study"; by columns of lists."""
    # Those that no past paper has as a keyword; without keywords, single words that many state.
    stated, named = (
        pc.value_counts(pc.utf8_lower(pc.list_flatten(column))) for column in (interests, keywords)
    )
    if len(named):
        return frozenset(stated.field("values").to_pylist()) - {*named.field("values").to_pylist()}
    people = max(2, COMMON_SHARE * len(interests))
    return frozenset(
        one["values"]
        for one in stated.to_pylist()
        if one["counts"] >= people and len(one["values"].split()) == 1
    )


@lru_cache(maxsize=65_536)
def cleaned_interests(interests: tuple[str, ...], general: frozenset[str]) -> tuple[str, ...]:
    """The interests that a prompt shows: none short, general, or part of another that is shown."""
    # Words between blanks and in the singular, so that a part is a part of the text.
    words = {term: f" {term.lower()} ".replace("s ", " ") for term in interests}
    sound = [
        term
        for term in words
        if term.lower() not in general and not (len(term) <= SHORT and term.isascii())
    ]
    kept = {words[term]: term for term in reversed(sound)}
    whole = [kept[key] for key in kept if not any(key in other for other in kept if key != other)]
    back = [term for term in words if term not in sound][: max(0, LEAST - len(whole))]
    return tuple(term for term in words if term in whole or term in back)
