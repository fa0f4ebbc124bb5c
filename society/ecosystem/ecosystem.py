"""The ecosystem, everything that is known at the boundary year, in memory and as a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from virsci_society.agents.arrays import IntArray, VectorArray, require_vectors, zero_rows
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    make_folder,
    remove_file,
    remove_folder,
    write_atomically,
)
from virsci_society.agents.lazy_imports import pc
from virsci_society.society.ecosystem import storage
from virsci_society.society.ecosystem.knowledge_bank import People, general_terms, interests_text
from virsci_society.society.literature.authorships import Authorships, authorships_of
from virsci_society.society.literature.embedding.base import (
    CachedEmbedding,
    Embedding,
    Progress,
    paper_text,
)
from virsci_society.society.literature.embedding.lsa import LSAEmbedding
from virsci_society.society.literature.embedding.registry import load_embedding
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # by name, as in ``building.raw_corpus``

MANY_PEOPLE = 20_000
"""Size of population above which the vectors of its interests are stored with the ecosystem; those
of a model that must be loaded or paid always are.
"""
AT_ONCE = 65_536
"""Rows that are encoded or hashed at a time."""
INTERESTS = "interests.npy"


@dataclass(frozen=True, eq=False)
class Ecosystem:
    """What is known at the boundary, and the contemporary papers that measure novelty.

    Attributes:
        boundary: the calendar year whose 1 January is date 0.
        career_starts: year of each scientist's first paper; 0 where unknown (no year is 0).
        coauthors: joint papers before the boundary: symmetric, zero diagonal, integer, with rows in
            the order of ``profiles``.
        interest_vectors: one row per scientist; None where they are encoded when they are needed.
    """

    boundary: int
    past: Papers
    contemporary: Papers
    profiles: People
    career_starts: IntArray
    coauthors: csr_array
    embedding: Embedding
    past_vectors: VectorArray
    contemporary_vectors: VectorArray
    manifest: dict[str, Any] = field(default_factory=dict)
    key: Mapping[str, tuple[str, str]] | None = field(default=None, repr=False)
    interest_vectors: VectorArray | None = None

    def __post_init__(self) -> None:
        columns = {
            "past": Papers.of(self.past),
            "contemporary": Papers.of(self.contemporary),
            "profiles": People.of(self.profiles),
            "career_starts": np.asarray(self.career_starts, dtype=np.int64),
        }
        for name, column in columns.items():
            object.__setattr__(self, name, column)
        _require_split(self)
        people, interests = len(self.profiles), self.interest_vectors
        for what, part, expected in (
            ("co-author counts", self.coauthors.shape, (people, people)),
            ("career starts", self.career_starts.shape, (people,)),
            ("past vectors", self.past_vectors.shape[:1], (len(self.past),)),
            (
                *("contemporary vectors", self.contemporary_vectors.shape[:1]),
                (len(self.contemporary),),
            ),
            ("vectors of interests", (people if interests is None else len(interests),), (people,)),
        ):
            if part != expected:
                raise InputError(
                    f"{what} do not match the {expected[0]} they belong to; {storage.REBUILD_HINT}"
                )
        # The knowledge bank of a society is made of the profiles.
        require_past(self.career_starts, self.boundary, "the knowledge bank")
        _require_vectors(self.past, self.past_vectors, self.embedding, "past papers")
        _require_vectors(
            self.contemporary, self.contemporary_vectors, self.embedding, "contemporary papers"
        )
        if interests is not None:  # zero for a scientist without any
            zero_rows(interests, "vectors of interests", storage.REBUILD_HINT)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of past papers, contemporary papers and scientists."""
        return {
            "past": len(self.past),
            "contemporary": len(self.contemporary),
            "scientists": len(self.profiles),
        }

    @cached_property
    def general_terms(self) -> frozenset[str]:
        """The interests that are general language, and are left out where a prompt shows some."""
        return general_terms(self.profiles.table["interests"], self.past.table["keywords"])

    @cached_property
    def authorships(self) -> Authorships:
        """The past papers by scientists of the population, whose rows stand for them."""
        return authorships_of(self.past, self.profiles.rows, len(self.profiles))

    def digest(self) -> str:
        """Hash all that a society starts from; a reloaded folder has the same hash."""
        hasher = hashlib.sha256(f"{self.boundary} {self.embedding.revision}\n".encode())
        for columns in (self.past, self.contemporary, self.profiles):
            hasher.update(columns.digest())
        counts = self.coauthors
        for numbers in (self.career_starts, counts.indptr, counts.indices, counts.data):
            # In one width and byte order, so that the hash is the same on every machine.
            hasher.update(np.asarray(numbers, dtype="<i8").tobytes())
        for rows in (self.past_vectors, self.contemporary_vectors):
            for start in range(0, len(rows), AT_ONCE):
                hasher.update(np.asarray(rows[start : start + AT_ONCE], dtype="<f4").tobytes())
        return hasher.hexdigest()

    def require_runnable(self) -> None:
        """Check that a society can start from this."""
        for what, part in {"past papers": self.past, "scientists": self.profiles}.items():
            if not part:
                raise InputError(
                    f"the ecosystem ({self.counts}) has no {what}; a run needs some: "
                    "choose another boundary or weaker filters"
                )

    def save(self, folder: Path | str, *, key: bool = False) -> None:
        """Write the folder; an ecosystem that is there already is replaced."""
        target = Path(folder)
        if key and self.key is None:
            raise InputError(f"{target}: no key is known for this ecosystem; save without it")
        storage.require_place(target)
        make_folder(target)
        write_atomically(target / storage.BEGUN, "The ecosystem in this folder is not whole.\n")
        # First, so that a write that is cut short is not taken for an ecosystem.
        for name in (storage.MANIFEST, storage.PAPERS, storage.SCIENTISTS, storage.COAUTHORS):
            remove_file(target / name)
        remove_file(target / storage.KEY)
        remove_folder(target / "embeddings")
        storage.write_papers(target / storage.PAPERS, self.past, self.contemporary)
        storage.write_scientists(target / storage.SCIENTISTS, self.profiles, self.career_starts)
        storage.write_counts(target / storage.COAUTHORS, self.coauthors)
        vectors = target / storage.embedding_folder(self.embedding.name)
        make_folder(vectors)
        self.embedding.save(vectors)
        storage.write_rows(vectors / "past.npy", self.past_vectors)
        storage.write_rows(vectors / "contemporary.npy", self.contemporary_vectors)
        few = len(self.profiles) <= MANY_PEOPLE and isinstance(self.embedding, LSAEmbedding)
        interests = self.interest_vectors
        if interests is None and not few:
            interests = encode_interests(self.profiles, self.embedding)
        if interests is not None:
            storage.write_rows(vectors / INTERESTS, interests)
        if key and self.key is not None:
            storage.write_key(target / storage.KEY, self.key)
        # The manifest comes last: a folder without one is no ecosystem.
        facts = {"boundary": self.boundary, "counts": self.counts}
        embeddings = {"embeddings": [self.embedding.name]}
        storage.write_manifest(target, self.manifest | facts | embeddings)

    @classmethod
    def load(cls, folder: Path | str) -> Ecosystem:
        """Read a folder and verify the hash of every file."""
        source = Path(folder)
        manifest = storage.read_manifest(source)
        boundary, names = manifest.get("boundary"), manifest.get("embeddings")
        if not isinstance(boundary, int) or not names:
            raise InputError(
                f"{source / storage.MANIFEST}: boundary {boundary!r}, embeddings {names}; "
                f"{storage.REBUILD_HINT}"
            )
        papers = storage.read_papers(source / storage.PAPERS)
        early = int((papers.dates < 0).sum())
        profiles, career_starts = storage.read_scientists(source / storage.SCIENTISTS)
        vectors = source / storage.embedding_folder(str(names[0]))
        encoder = load_embedding(vectors)
        later, dim = len(papers) - early, encoder.dim
        file, shape = vectors / INTERESTS, (len(profiles), dim)
        try:
            interests = storage.read_rows(file, shape) if file.is_file() else None
            return cls(
                boundary=boundary,
                past=papers[:early],
                contemporary=papers[early:],
                profiles=profiles,
                career_starts=career_starts,
                coauthors=storage.read_counts(source / storage.COAUTHORS),
                embedding=encoder,
                past_vectors=storage.read_rows(vectors / "past.npy", (early, dim)),
                contemporary_vectors=storage.read_rows(vectors / "contemporary.npy", (later, dim)),
                manifest=manifest,
                interest_vectors=interests,
            )
        except InputError as error:
            raise InputError(f"{source}: {error}") from error


def require_past(years: IntArray, boundary: int, what: str) -> None:
    """Raise an error if something that scientists may know is of the boundary year or later."""
    if len(years) and years.max() >= boundary:
        raise InputError(
            f"{what} would hold a paper of {years.max()}, but scientists know nothing from the "
            f"boundary {boundary} on"
        )


def encode_interests(
    people: People, embedding: Embedding, progress: Progress | None = None
) -> VectorArray:
    """Encode the interests of every scientist as the knowledge bank does (people x dim)."""
    return embedding.encode([interests_text(one) for one in people], progress)


def _require_vectors(papers: Papers, rows: VectorArray, embedding: Embedding, what: str) -> None:
    """Check that vectors can be compared; zero are only those of words that nobody has learnt."""
    zero = zero_rows(rows, what, storage.REBUILD_HINT)[:MANY_PEOPLE]
    if not len(zero):
        return
    if not isinstance(embedding, CachedEmbedding):
        texts = papers.table.select(["title", "abstract"]).take(zero).to_pylist()
        again = embedding.encode([paper_text(one["title"], one["abstract"]) for one in texts])
        zero = zero[again.any(axis=1)]
    require_vectors(rows[zero], f"{what}, whose embedding makes none", storage.REBUILD_HINT)


def _require_split(ecosystem: Ecosystem) -> None:
    """Check that papers stand by date, then id, each once, on the right side of the boundary."""
    boundary, sides = ecosystem.boundary, (ecosystem.past, ecosystem.contemporary)
    for side, early in zip(sides, (True, False), strict=True):
        dates, ids = side.dates, side.table["id"]
        by_id = np.asarray(pc.less(ids[:-1], ids[1:])) if len(side) > 1 else True
        if not ((np.diff(dates) > 0) | ((np.diff(dates) == 0) & by_id)).all():
            raise InputError(
                f"papers do not stand by date, then id, each once; {storage.REBUILD_HINT}"
            )
        years = boundary + np.floor(dates / DAYS_PER_YEAR)
        misfits = np.flatnonzero((side.years != years) | ((dates < 0) != early))
        if len(misfits):
            paper, known = side[int(misfits[0])], np.concatenate([one.years for one in sides])
            raise InputError(
                f"boundary {boundary} does not fit the papers, whose years are {known.min()} to "
                f"{known.max()}: {paper.id!r} of {paper.year} is dated {paper.date}; "
                f"{storage.REBUILD_HINT}"
            )
